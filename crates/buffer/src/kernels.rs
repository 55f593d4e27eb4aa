//! Code that the kernels of this crate share.

use std::ffi::CStr;

/// Threads per block, as the texts of the kernels say.
pub(crate) const THREADS: u32 = 256;
/// Enough blocks to keep every multiprocessor of a large GPU busy until the end.
pub(crate) const MAX_BLOCKS: u32 = 132 * 16;

/// A kernel's text, which ends with a NUL.  A constant with a NUL elsewhere does not compile.
#[expect(clippy::panic, reason = "it makes constants, so only the compiler panics")]
pub(crate) const fn text_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a NUL within the text"),
    }
}
