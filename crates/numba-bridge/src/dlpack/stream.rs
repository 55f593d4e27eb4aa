//! The numbers that consumers use for their streams.

use crate::Error;
use crate::error::invalid;
use arrow_cuda_context::Consumer;

/// How a consumer that calls `__dlpack__(stream=...)` orders its work.
///
/// `None` and 1 are the legacy default stream, 2 is the per-thread one, which is ordered with it,
/// and -1 asks for no order; every other number is a handle.
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
