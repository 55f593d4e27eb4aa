//! Which context a handle names.  From CUDA 12 on, the driver numbers contexts, and never reuses a number.
//!
//! A handle alone does not identify a context.  After a reset of the device (`numba.cuda.close()` does one),
//! the next primary context has the same handle.  Its allocations have the same addresses as before (seen on an
//! H200).

use super::is_readable;
use crate::out_param::out_param;
use arrow_cuda_driver::{CudaError, CudaResult, call, codes};
use std::ffi::c_void;

/// The number of the context that a handle names.
///
/// The driver dereferences handles without checking them.  A handle from outside must therefore not reach the
/// driver before the operating system has found its memory readable.
pub(super) fn number_of(handle: usize) -> CudaResult<u64> {
    if !is_readable(handle) {
        return Err(gone());
    }
    number_of_readable(handle)
}

/// As [`number_of`], for a handle whose memory is known to be readable.
pub(super) fn number_of_readable(handle: usize) -> CudaResult<u64> {
    let handle = handle as *mut c_void;
    // SAFETY: the handle is readable memory, which is all that this call demands; it answers
    // `CUDA_ERROR_INVALID_CONTEXT` for a context that was destroyed.
    let _version = out_param(0u32, |at| unsafe { call!(cuCtxGetApiVersion(handle, at)) })?;
    // SAFETY: a live context; stores a number.
    match out_param(0u64, |at| unsafe { call!(cuCtxGetId(handle, at)) }) {
        // Drivers before CUDA 12 have no numbers: the handle alone has to suffice there.
        Err(error) if error.is_missing_function() => Ok(0),
        Err(error) if error.code() == Some(codes::CONTEXT_IS_DESTROYED) => Err(gone()),
        answer => answer,
    }
}

pub(crate) fn number_of_current() -> CudaResult<u64> {
    // SAFETY: null stands for the current context, so no handle is read; stores a number.
    out_param(0u64, |at| unsafe { call!(cuCtxGetId(std::ptr::null_mut(), at)) })
}

/// The one error for a context that is gone, for whatever reason.
pub(super) fn gone() -> CudaError {
    CudaError::of_call("cuCtxGetApiVersion", codes::INVALID_CONTEXT)
}
