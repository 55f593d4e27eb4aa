//! Memory of the process that forked children do not get.

use std::fs;

/// The sizes of such mappings, in bytes: pinned slots, and the simulated memory of devices.
pub fn withheld_mappings() -> Vec<usize> {
    let maps = fs::read_to_string("/proc/self/smaps").expect("of every process");
    let (mut size, mut withheld) = (0, Vec::new());
    for line in maps.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["Size:", kibibytes, "kB"] => {
                size = kibibytes.parse::<usize>().expect("a number") << 10;
            }
            ["VmFlags:", ref flags @ ..] if flags.contains(&"dc") => withheld.push(size),
            _ => {}
        }
    }
    withheld
}
