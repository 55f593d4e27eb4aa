//! DLPack: the C structure by which array libraries exchange memory.
//!
//! * A [`Tensor`] is a buffer with a layout.  [`Tensor::into_versioned`] and
//!   [`Tensor::into_legacy`] turn it into the structure, which owns the memory until its deleter is
//!   called, on any thread.
//! * An [`Imported`] owns a structure of another library, and calls its deleter when dropped.
//!   [`Imported::memory`] returns the memory of its elements, and refuses inconsistent structures;
//!   [`StridedArray::from_dlpack`](crate::StridedArray::from_dlpack) makes an array of it.
//! * [`consumer_on`] decides which side waits, from the consumer's number for its stream.

pub mod abi;
mod element_type;
#[expect(unsafe_code, reason = "makes and frees C structures")]
mod export;
#[expect(unsafe_code, reason = "reads C structures of other libraries")]
mod import;

pub use export::{HostBytes, Memory, Tensor};
pub use import::{Imported, ImportedMemory, check_device_type};

use crate::Error;
use crate::error::invalid;
use arrow_cuda_context::Consumer;

/// How a consumer that calls `__dlpack__(stream=...)` orders its work.
///
/// `None` and 1 are the legacy default stream, 2 is the per-thread one, which is ordered with it,
/// and -1 asks for no order; every other number is a handle.
///
/// ```
/// use arrow_cuda_context::Consumer;
/// use arrow_cuda_numba_bridge::dlpack::consumer_on;
///
/// assert_eq!(consumer_on(None)?, Consumer::OnDefaultStream);
/// assert_eq!(consumer_on(Some(0x5500_0000_1000))?, Consumer::OnOtherStream);
/// assert!(consumer_on(Some(0)).is_err());
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Invalid`] for a number that does not name a stream.
pub fn consumer_on(stream: Option<i64>) -> Result<Consumer, Error> {
    match stream {
        None | Some(-1 | 1 | 2) => Ok(Consumer::OnDefaultStream),
        Some(0) => invalid(
            "stream 0 is ambiguous: pass 1 for the legacy default stream, 2 for the per-thread one",
        ),
        Some(stream) if stream < 0 => invalid(format!("{stream} does not name a CUDA stream")),
        Some(_) => Ok(Consumer::OnOtherStream),
    }
}
