//! How machines are read: trees of files like those of Linux, and this machine.

#![allow(dead_code, reason = "these are the crate's own modules")]

#[path = "../src/staging/affinity.rs"]
mod affinity;
#[path = "../src/staging/machine.rs"]
mod machine;

use affinity::allowed;
use machine::{Cpus, Home, Machine};
use rstest::rstest;
use std::ops::Range;
use std::sync::Mutex;
use std::{fs, num::NonZero, thread};
use tempfile::TempDir;

const SIBLINGS: &str = "topology/thread_siblings_list";

/// A folder with these files, whose names are those below `/sys/devices/system`.
fn tree<T: AsRef<str>>(files: impl IntoIterator<Item = (T, T)>) -> TempDir {
    let root = TempDir::new().expect("room");
    for (name, text) in files {
        let path = root.path().join("sys/devices/system").join(name.as_ref());
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        fs::write(path, text.as_ref()).expect("room");
    }
    root
}

fn cpus(range: Range<usize>) -> Cpus {
    range.collect()
}

const TWO_NODES: [(&str, &str); 3] = [
    ("node/node0/cpulist", "0-15\n"),
    ("node/node1/cpulist", "16-31\n"),
    ("node/node2/cpulist", "\n"),
];

#[rstest]
#[case::on_the_second_node(1, 0..32, 16..32, 16)]
#[case::which_the_process_may_use_a_part_of(1, 12..20, 16..20, 4)]
#[case::which_is_all_that_the_process_may_use(1, 16..24, 0..0, 8)]
#[case::which_the_process_may_not_use(1, 0..8, 0..0, 8)]
#[case::on_a_node_without_cpus(2, 0..32, 0..0, 32)]
#[case::on_a_node_that_is_missing(3, 0..32, 0..0, 32)]
#[case::on_an_unknown_node(-1, 0..32, 0..0, 32)]
fn threads_stay_on_the_node_of_the_device(
    #[case] node: i32,
    #[case] allowed: Range<usize>,
    #[case] stays_on: Range<usize>,
    #[case] cores: usize,
) {
    let root = tree(TWO_NODES);
    let machine = Machine(root.path());
    let home = machine.home(node, &cpus(allowed), 32);
    assert_eq!(home, Home { cpus: cpus(stays_on), cores });
}

#[test]
fn threads_run_anywhere_on_a_machine_with_one_node() {
    let root = tree([("node/node0/cpulist", "0-7\n")]);
    let machine = Machine(root.path());
    assert_eq!(machine.home(0, &cpus(0..8), 8), Home { cpus: cpus(0..0), cores: 8 });
}

#[rstest]
#[case::words("all of them")]
#[case::backwards("16-8")]
#[case::half("16-")]
#[case::endless("0-18446744073709551615")]
fn files_that_make_no_sense_change_nothing(#[case] text: &str) {
    let siblings = format!("cpu/cpu0/{SIBLINGS}");
    let root = tree([("node/node1/cpulist", text), (siblings.as_str(), text)]);
    let machine = Machine(root.path());
    assert_eq!(machine.home(1, &cpus(0..8), 8), Home { cpus: cpus(0..0), cores: 8 });
}

#[rstest]
#[case::which_the_file_tells("1\n", 1)]
#[case::which_it_does_not_know("-1\n", -1)]
#[case::in_words("the first", -1)]
fn the_node_of_a_device_on_pci(#[case] text: &str, #[case] node: i32) {
    let root = tree([("../../bus/pci/devices/0000:1b:00.0/numa_node", text)]);
    let machine = Machine(root.path());
    assert_eq!(machine.node_of_pci([0, 0x1b, 0]), node);
    assert_eq!(machine.node_of_pci([0, 0x1c, 0]), -1);
}

/// Sixteen processors, of which `n` and `n + 8` are one core.
#[rstest]
#[case::all(0..16, 8)]
#[case::one_of_each_core(0..8, 8)]
#[case::both_of_some(4..14, 8)]
fn siblings_are_one_core(#[case] allowed: Range<usize>, #[case] cores: usize) {
    let siblings = |core| format!("{core},{}\n", core + 8);
    let root = tree((0..16).map(|cpu| (format!("cpu/cpu{cpu}/{SIBLINGS}"), siblings(cpu % 8))));
    let machine = Machine(root.path());
    assert_eq!(machine.cores(&cpus(allowed), 16), cores);
}

#[rstest]
fn a_quota_limits_the_cores(#[values(2, 4, 8, 64)] quota: usize) {
    let root = tree([("node/node0/cpulist", "0-31"), ("node/node1/cpulist", "32-63")]);
    let machine = Machine(root.path());
    assert_eq!(machine.cores(&cpus(0..64), quota), quota);
    assert_eq!(machine.home(1, &cpus(0..64), quota).cores, quota.min(32));
    assert_eq!(machine.cores(&Cpus::new(), quota), quota, "the system does not tell the affinity");
}

/// Each of them may have twelve.
#[rstest]
#[case::one_device(32, 1, 12)]
#[case::two(32, 2, 24)]
#[case::four(32, 4, 24)]
#[case::four_with_few_cores(8, 4, 12)]
fn devices_share_threads(#[case] cores: usize, #[case] devices: usize, #[case] shared: usize) {
    let home = Home { cpus: Cpus::new(), cores };
    assert_eq!(home.threads_for(devices, 12), shared);
}

#[test]
fn this_machine() {
    let (machine, own) = (Machine::this(), allowed());
    let parallelism = thread::available_parallelism().map_or(1, NonZero::get);
    assert!((1..=parallelism).contains(&machine.cores(&own, parallelism)));
    assert!(machine.home(0, &own, parallelism).cpus.is_subset(&own));
}

#[test]
fn a_thread_stays_where_it_may_run() {
    let own = allowed();
    thread::scope(|scope| {
        let stay = |cpus: &Cpus| Home { cpus: cpus.clone(), cores: 1 }.stay();
        scope.spawn(move || {
            let (all, first) = (allowed(), allowed().into_iter().take(1).collect());
            stay(&cpus(0..0));
            stay(&Cpus::from([machine::MOST_CPUS - 1]));
            assert_eq!(allowed(), all, "it may not run there");
            stay(&first);
            stay(&all);
            assert_eq!(allowed(), first, "it is not let out again");
        });
    });
    assert_eq!(allowed(), own);
}

#[test]
fn memory_is_touched_at_home_and_the_caller_stays_where_it_is() {
    let (before, seen) = (allowed(), Mutex::default());
    let home = Home { cpus: before.iter().copied().take(1).collect(), cores: 1 };
    home.touch(|| *seen.lock().expect("no panic") = allowed());
    assert_eq!((seen.into_inner().expect("no panic"), allowed()), (home.cpus, before));
}
