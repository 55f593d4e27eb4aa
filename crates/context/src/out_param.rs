//! Out parameters of driver calls.

use arrow_cuda_driver::CudaResult;
use std::ffi::c_void;

/// Passes the address of `initial` to a driver call, and returns the value that the call stores there.
pub(crate) fn out_param<T>(
    initial: T,
    call: impl FnOnce(*mut c_void) -> CudaResult<()>,
) -> CudaResult<T> {
    let mut value = initial;
    call((&raw mut value).cast())?;
    Ok(value)
}
