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

/// How many bytes the process may cache: what the environment says, else the machine's memory.
pub(super) fn default_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| match CACHE.read("no pinned memory is cached", parse_bytes) {
        Ok(Some(limit)) => limit,
        Ok(None) => {
            let described = fs::read_to_string("/proc/meminfo").unwrap_or_default();
            MOST.min(total_memory(&described).unwrap_or(0) / LIMIT_DIVISOR)
        }
        Err(Misuse) => 0,
    })
}

/// The machine's memory in bytes, as `/proc/meminfo` describes it.
fn total_memory(described: &str) -> Option<u64> {
    let line = described.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_memory_is_read() {
        let described = "MemTotal:       2113401032 kB\nMemFree:        1847021000 kB\n";
        assert_eq!(total_memory(described), Some(2_113_401_032 << 10));
        assert_eq!(total_memory("MemFree: 5 kB\n"), None);
        assert_eq!(total_memory("MemTotal: much\n"), None);
    }
}
