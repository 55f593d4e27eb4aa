//! The default limit of the cache.

use crate::memory::parse_bytes;
use arrow_cuda_driver::{Misuse, Variable};
use std::fs;
use std::sync::OnceLock;

/// How much pinned memory the process may cache.
static CACHE: Variable = Variable::new(
    "PYARROW_CUDA_PINNED_CACHE",
    "a number of bytes, such as 1000000 or 512M, or 'off' for none",
);
/// By default, the process may cache one part in this many of the machine's memory.  The system can
/// neither swap nor reclaim pinned memory, and each process has a cache of its own.
const LIMIT_DIVISOR: u64 = 16;
/// Nor more than this: enough for some transfers of the usual sizes at a time.
const MOST: u64 = 1 << 30;
/// The field with the machine's memory.
const TOTAL: &str = "MemTotal:";

/// How many bytes the process may cache: what the environment says, else the machine's memory.
pub(super) fn default_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| match CACHE.read("no pinned memory is cached", parse_bytes) {
        Ok(Some(limit)) => limit,
        Ok(None) => {
            let described = fs::read_to_string("/proc/meminfo").unwrap_or_default();
            MOST.min(field(&described, TOTAL).unwrap_or(0) / LIMIT_DIVISOR)
        }
        Err(Misuse) => 0,
    })
}

/// How many bytes the system can give without ending a process, as it says; `None` if it does not.
pub(super) fn available_memory() -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// A field of `/proc/meminfo`, in bytes.
fn field(described: &str, name: &str) -> Option<u64> {
    let line = described.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_memory_is_read() {
        let described = "MemTotal:       2113401032 kB\nMemFree:        1847021000 kB\n";
        assert_eq!(field(described, TOTAL), Some(2_113_401_032 << 10));
        assert_eq!(field("MemFree: 5 kB\n", TOTAL), None);
        assert_eq!(field("MemTotal: much\n", TOTAL), None);
        assert!(available_memory().is_some_and(|bytes| bytes > 0));
    }
}
