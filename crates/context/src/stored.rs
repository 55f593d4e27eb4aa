//! Values that the driver stores at a place that it is given.

use arrow_cuda_driver::CudaResult;
use std::ffi::c_void;

/// The value that a call of the driver has stored over `before`, whose address it takes.
pub(crate) fn stored<T>(
    before: T,
    call: impl FnOnce(*mut c_void) -> CudaResult<()>,
) -> CudaResult<T> {
    let mut value = before;
    call((&raw mut value).cast())?;
    Ok(value)
}
