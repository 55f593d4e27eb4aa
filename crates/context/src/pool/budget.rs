//! How much released memory may be cached: for device memory in each context, for pinned memory in the process.

use super::MemoryStats;
use super::source::memory_of_the_machine;
use arrow_cuda_driver::{CudaResult, Lock, Misuse, Variable};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// By default, a context caches one part in this many of its device's memory, and the process half that share of
/// the machine's.  The rest stays free for others: PyTorch and CuPy have caches of their own, and each
/// process has one of pinned memory, which the system can neither swap nor reclaim.
const LIMIT_DIVISOR: u64 = 8;
/// The process caches no more pinned memory than this by default: enough for some transfers of the usual sizes.
const MOST_PINNED: u64 = 1 << 30;
/// No limit was set.
const UNSET: u64 = u64::MAX;

static DEVICE_VARIABLE: Variable = Variable::new(
    "PYARROW_CUDA_CACHE",
    "a number of bytes, such as 1000000 or 512M, or 'off' for none",
);
static PINNED_VARIABLE: Variable = Variable::new(
    "PYARROW_CUDA_PINNED_CACHE",
    "a number of bytes, such as 1000000 or 512M, or 'off' for none",
);
static DEFAULT: AtomicU64 = AtomicU64::new(UNSET);

/// The budget of pinned memory, which all pools of it in the process share.
pub(super) static PINNED: Budget = Budget { limit: AtomicU64::new(UNSET), stats: Lock::new(None) };

/// A limit for several pools, and their statistics.
#[derive(Debug)]
pub(super) struct Budget {
    limit: AtomicU64,
    /// The sums over the pools; peaks are those of the sums.
    stats: Lock<Option<MemoryStats>>,
}

impl Budget {
    /// The most that the pools may cache.  Reads a file or a variable at first.
    pub(super) fn limit(&self) -> u64 {
        match self.limit.load(Ordering::Relaxed) {
            UNSET => default_pinned_limit(),
            bytes => bytes,
        }
    }

    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes.min(UNSET - 1), Ordering::Relaxed);
    }

    /// # Errors
    ///
    /// In a forked child.
    pub(super) fn stats(&self) -> CudaResult<MemoryStats> {
        Ok(self.stats.lock()?.unwrap_or_default())
    }

    /// Reads or changes the statistics, under a lock that is taken after those of the pools.  In a forked child they
    /// are 0.
    pub(super) fn with_stats<T>(&self, work: impl FnOnce(&mut MemoryStats) -> T) -> T {
        match self.stats.lock() {
            Ok(mut stats) => work(stats.get_or_insert_default()),
            Err(_) => work(&mut MemoryStats::default()),
        }
    }
}

/// Sets how many bytes of released memory each context caches, unless `PYARROW_CUDA_CACHE` is set.
/// Contexts that have allocated already keep their limit.
///
/// ```
/// arrow_cuda_context::set_default_cache_limit(1 << 30);
/// ```
pub fn set_default_cache_limit(bytes: u64) {
    DEFAULT.store(bytes, Ordering::Relaxed);
}

/// How many bytes a context may cache on a device with that much memory.
pub(super) fn default_device_limit(total_memory: u64) -> u64 {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    let limit = LIMIT.get_or_init(|| match DEVICE_VARIABLE.read("nothing is cached", parse) {
        Ok(limit) => limit,
        Err(Misuse) => Some(0),
    });
    limit.unwrap_or_else(|| match DEFAULT.load(Ordering::Relaxed) {
        UNSET => total_memory / LIMIT_DIVISOR,
        bytes => bytes,
    })
}

fn default_pinned_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| match PINNED_VARIABLE.read("no pinned memory is cached", parse) {
        Ok(Some(limit)) => limit,
        Ok(None) => {
            let total = memory_of_the_machine("MemTotal:").unwrap_or(0);
            MOST_PINNED.min(total / (2 * LIMIT_DIVISOR))
        }
        Err(Misuse) => 0,
    })
}

/// A number of bytes, where `K`, `M` and `G` are powers of 1024.
fn parse(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (digits, shift) = match text.as_bytes().last()? {
        _ if text == "off" => return Some(0),
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        _ => (&*text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("off", Some(0))]
    #[case("OFF", Some(0))]
    #[case("0", Some(0))]
    #[case("1000", Some(1000))]
    #[case("3M", Some(3 << 20))]
    #[case("2g", Some(2 << 30))]
    #[case("", None)]
    #[case("g", None)]
    #[case("-1", None)]
    #[case("on", None)]
    #[case("99999999999g", None)]
    fn the_variable_is_parsed(#[case] text: &str, #[case] limit: Option<u64>) {
        assert_eq!(parse(text), limit);
    }
}
