//! Which context a handle names: the driver numbers contexts, and never reuses a number.
//!
//! A handle alone does not identify a context.  After a reset of the device (`numba.cuda.close()`
//! does one) the next primary context has the same handle, and hands out the same addresses (seen
//! on an H200).

use super::context::gone;
use super::{Context, Device, is_readable};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, report_failure};
use std::ffi::c_void;

/// The number of the context that a handle names.
///
/// The driver dereferences handles without checking them.  A handle from outside must therefore not
/// reach the driver before the kernel has found its memory readable.
pub(super) fn number_of(handle: usize) -> CudaResult<u64> {
    if !is_readable(handle) {
        return Err(gone());
    }
    number_of_readable(handle)
}

fn number_of_readable(handle: usize) -> CudaResult<u64> {
    let mut version = 0u32;
    // SAFETY: the handle is readable memory, which is all that this call demands; it answers
    // `CUDA_ERROR_INVALID_CONTEXT` for a context that was destroyed.
    unsafe { call!(cuCtxGetApiVersion(handle as *mut c_void, (&raw mut version).cast())) }?;
    let mut number = 0u64;
    // SAFETY: a live context, and a place that outlives the call.
    match unsafe { call!(cuCtxGetId(handle as *mut c_void, (&raw mut number).cast())) } {
        Ok(()) => Ok(number),
        // Drivers before CUDA 12 have no numbers: the handle alone has to suffice there.
        Err(error) if error.is_missing_function() => Ok(0),
        Err(error) if error.code() == Some(codes::CONTEXT_IS_DESTROYED) => Err(gone()),
        Err(error) => Err(error),
    }
}

/// The number of the thread's current context.
pub(super) fn number_of_current() -> CudaResult<u64> {
    let mut number = 0u64;
    // SAFETY: null stands for the current context, so no handle is read; the place outlives the call.
    unsafe { call!(cuCtxGetId(std::ptr::null_mut(), (&raw mut number).cast())) }?;
    Ok(number)
}

/// Retains a device's primary context.  Returns its handle and number.
pub(super) fn retain_primary(device: Device) -> CudaResult<(usize, u64)> {
    let device = device.handle()?;
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut handle).cast(), device)) }?;
    let number = number_of(handle as usize).inspect_err(|_| {
        // SAFETY: undoes the retain above, which nobody has seen yet.
        let released = unsafe { call!(cuDevicePrimaryCtxRelease_v2(device)) };
        report_failure("a primary context", released);
    })?;
    Ok((handle as usize, number))
}

impl Context {
    /// Whether the handle still names this context.
    ///
    /// Memory of a context that is gone is forgotten, not released, so one answer does not suffice.
    pub(crate) fn is_alive(&self) -> bool {
        let says_gone = || self.check_identity().is_err_and(|error| error.is_context_gone());
        !(says_gone() && says_gone())
    }

    /// Whether an error of a call in this context means that it is gone, with everything in it.
    ///
    /// Destructors and statistics need this answer: a call may fail with that code in a context that is
    /// alive, where nothing may be forgotten.
    pub fn is_gone(&self, error: &CudaError) -> bool {
        error.is_context_gone() && !self.is_alive()
    }

    /// Fails when the handle does not name this context any more.
    pub(crate) fn check_identity(&self) -> CudaResult<()> {
        // The driver keeps the memory of a primary context's handle readable even after a reset.
        let number = match self.is_primary() {
            true => number_of_readable(self.handle())?,
            false => number_of(self.handle())?,
        };
        if number == self.number() { Ok(()) } else { Err(gone()) }
    }
}
