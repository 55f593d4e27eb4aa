//! The default cache limit.

use arrow_cuda_driver::{Misuse, Variable};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much every context may cache.
static CACHE: Variable = Variable::new(
    "PYARROW_CUDA_CACHE",
    "a number of bytes, such as 1000000 or 512M, or 'off' for none",
);
/// By default, a context may cache one part in this many of a device's memory.  The rest stays free
/// for others: PyTorch and CuPy have caches of their own.
const LIMIT_DIVISOR: u64 = 8;

static HAS_DEFAULT: AtomicBool = AtomicBool::new(false);
static DEFAULT: AtomicU64 = AtomicU64::new(0);

/// Sets how many bytes of released memory each context caches, unless `PYARROW_CUDA_CACHE` is set.
/// Contexts that have allocated already keep their limit.
///
/// ```
/// arrow_cuda_context::set_default_cache_limit(1 << 30);
/// ```
pub fn set_default_cache_limit(bytes: u64) {
    DEFAULT.store(bytes, Ordering::Relaxed);
    HAS_DEFAULT.store(true, Ordering::Release);
}

/// How many bytes a context may cache on a device with that much memory.
pub(crate) fn default_limit(total_memory: u64) -> u64 {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    let limit = LIMIT.get_or_init(|| match CACHE.read("nothing is cached", parse) {
        Ok(limit) => limit,
        Err(Misuse) => Some(0),
    });
    limit.unwrap_or_else(|| match HAS_DEFAULT.load(Ordering::Acquire) {
        true => DEFAULT.load(Ordering::Relaxed),
        false => total_memory / LIMIT_DIVISOR,
    })
}

/// A number of bytes, where `K`, `M` and `G` are powers of 1024.
pub(crate) fn parse(text: &str) -> Option<u64> {
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
