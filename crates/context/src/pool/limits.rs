//! How much released memory may be cached: for device memory in each context, for pinned memory in the process.

use crate::memory_of_the_machine;
use arrow_cuda_driver::Variable;
use std::sync::atomic::{AtomicU64, Ordering};

/// By default, a context caches one part in this many of its device's memory, and the process half that share of
/// the machine's.  The rest stays free for others: PyTorch and CuPy have caches of their own, and each
/// process has one of pinned memory, which the system can neither swap nor reclaim.
const LIMIT_DIVISOR: u64 = 8;
/// The process caches no more pinned memory than this by default: enough for some transfers of the usual sizes.
const MOST_PINNED: u64 = 1 << 30;
const UNSET: u64 = u64::MAX;

const ACCEPTED: &str = "a number of bytes, such as 1000000 or 512M, or 'off' for none";
static DEVICE_VARIABLE: Variable = Variable::new("PYARROW_CUDA_CACHE", ACCEPTED);
static PINNED_VARIABLE: Variable = Variable::new("PYARROW_CUDA_PINNED_CACHE", ACCEPTED);
static DEFAULT: AtomicU64 = AtomicU64::new(UNSET);

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
    let limit = DEVICE_VARIABLE.read("nothing is cached", parse);
    limit.unwrap_or(Some(0)).unwrap_or_else(|| match DEFAULT.load(Ordering::Relaxed) {
        UNSET => total_memory / LIMIT_DIVISOR,
        bytes => bytes,
    })
}

pub(super) fn default_pinned_limit() -> u64 {
    let limit = PINNED_VARIABLE.read("no pinned memory is cached", parse);
    limit.unwrap_or(Some(0)).unwrap_or_else(|| {
        let total = memory_of_the_machine("MemTotal:").unwrap_or(0);
        MOST_PINNED.min(total / (2 * LIMIT_DIVISOR))
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
