//! Reads the machine's cores and NUMA nodes, below the root of any tree of files.
//!
//! Files that are missing or make no sense count as unknown, and change nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Numbers of logical processors, of which Linux knows no more than [`MOST_CPUS`].
pub(super) type Cpus = BTreeSet<usize>;
pub(super) const MOST_CPUS: usize = 8192;

/// The files of a machine are below this path.
pub(super) struct Machine<'root>(pub(super) &'root Path);

/// Where the threads and the pinned memory of a device belong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    /// The processors of its node; empty if threads may run anywhere.
    pub(super) cpus: Cpus,
    /// How many cores these processors belong to, of those that the process may use.
    pub(super) cores: usize,
}

impl Machine<'_> {
    pub(super) fn this() -> Self {
        Self(Path::new("/"))
    }

    /// How many cores these processors belong to: two threads of one core copy no faster than one of them.
    /// `parallelism` is how many threads can run at the same time, which a container's quota may limit.
    pub(super) fn cores(&self, cpus: &Cpus, parallelism: usize) -> usize {
        let first_sibling = |cpu: &usize| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            self.list(&path).and_then(|siblings| siblings.first().copied()).unwrap_or(*cpu)
        };
        let cores = cpus.iter().map(first_sibling).collect::<Cpus>().len();
        if cores == 0 { parallelism } else { cores.min(parallelism) }
    }

    /// The home of a device on this node, which is negative if it is unknown, in a process that may use the
    /// `allowed` processors.  If all of them are on the node, or none are, threads may run anywhere.
    pub(super) fn home(&self, node: i32, allowed: &Cpus, parallelism: usize) -> Home {
        let cpus = self.list(&format!("sys/devices/system/node/node{node}/cpulist"));
        let usable = &cpus.unwrap_or_default() & allowed;
        if usable.is_empty() || usable == *allowed {
            return Home { cores: self.cores(allowed, parallelism), cpus: Cpus::new() };
        }
        Home { cores: self.cores(&usable, parallelism), cpus: usable }
    }

    /// The node of a device by its domain, bus and number on PCI; negative if it is unknown.
    pub(super) fn node_of_pci(&self, [domain, bus, number]: [i32; 3]) -> i32 {
        let address = format!("{domain:04x}:{bus:02x}:{number:02x}.0");
        let path = format!("sys/bus/pci/devices/{address}/numa_node");
        fs::read_to_string(self.0.join(path))
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(-1)
    }

    /// A file with a list such as `0-3,8`.
    fn list(&self, path: &str) -> Option<Cpus> {
        let (mut cpus, text) = (Cpus::new(), fs::read_to_string(self.0.join(path)).ok()?);
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if last >= MOST_CPUS {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(cpus)
    }
}

impl Home {
    /// How many worker threads `devices` of its devices share, each of which may have `threads`.  They leave
    /// cores for the program itself, but are never fewer than one device may have.
    pub(super) fn threads_for(&self, devices: usize, threads: usize) -> usize {
        (threads * devices).min(self.cores * 3 / 4).max(threads)
    }
}
