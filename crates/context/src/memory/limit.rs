//! How much is kept unless a program says otherwise.

use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Names what every context may keep.
const VARIABLE: &str = "PYARROW_CUDA_CACHE";
/// Unless it says otherwise, one part in this many of a device's memory.  The rest is there for
/// others without their asking: PyTorch and CuPy have caches of their own.
const SHARE: u64 = 8;

static HAS_DEFAULT: AtomicBool = AtomicBool::new(false);
static DEFAULT: AtomicU64 = AtomicU64::new(0);

/// Sets how many bytes of released memory each context keeps, unless `PYARROW_CUDA_CACHE` says
/// otherwise.  Contexts that have allocated already are as they are.
///
/// ```
/// arrow_cuda_context::set_default_cache_limit(1 << 30);
/// ```
pub fn set_default_cache_limit(bytes: u64) {
    DEFAULT.store(bytes, Ordering::Relaxed);
    HAS_DEFAULT.store(true, Ordering::Release);
}

/// How many bytes a context of a device with that much memory may keep.
pub(crate) fn default_limit(total_memory: u64) -> u64 {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    let limit = LIMIT.get_or_init(|| {
        let Ok(text) = env::var(VARIABLE) else { return None };
        parse(&text).unwrap_or_else(|()| {
            eprintln!("{VARIABLE}={text} is no number of bytes, nor 'off': nothing is cached");
            Some(0)
        })
    });
    limit.unwrap_or_else(|| match HAS_DEFAULT.load(Ordering::Acquire) {
        true => DEFAULT.load(Ordering::Relaxed),
        false => total_memory / SHARE,
    })
}

/// None where nothing is said.
fn parse(text: &str) -> Result<Option<u64>, ()> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, shift) = match text.as_bytes().last() {
        None => return Ok(None),
        Some(_) if text == "off" => return Ok(Some(0)),
        Some(b'k') => (&text[..text.len() - 1], 10),
        Some(b'm') => (&text[..text.len() - 1], 20),
        Some(b'g') => (&text[..text.len() - 1], 30),
        Some(_) => (&*text, 0),
    };
    let number = digits.parse::<u64>().map_err(|_| ())?;
    number.checked_mul(1 << shift).map(Some).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", Ok(None))]
    #[case(" off ", Ok(Some(0)))]
    #[case("0", Ok(Some(0)))]
    #[case("1000", Ok(Some(1000)))]
    #[case("3M", Ok(Some(3 << 20)))]
    #[case("2g", Ok(Some(2 << 30)))]
    #[case("g", Err(()))]
    #[case("-1", Err(()))]
    #[case("on", Err(()))]
    #[case("99999999999g", Err(()))]
    fn the_variable_is_understood(#[case] text: &str, #[case] limit: Result<Option<u64>, ()>) {
        assert_eq!(parse(text), limit);
    }
}
