//! Noticing that somebody has reset the device: all that was in its context went with it, and the
//! next context has the same handle and the same addresses.

use crate::codes::CONTEXT_IS_DESTROYED;
use crate::context::invalid_context;
use crate::{Context, Entered, live};
use arrow_cuda_driver::{CudaError, CudaResult, call};

impl Context {
    /// As [`enter`](Self::enter), for the use of memory, events, streams and kernels that were made
    /// earlier: they went with the context when somebody has reset its device.  Their addresses and
    /// handles are then another context's, or nobody's.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` for a context that is gone.
    pub fn enter_unless_gone(&self) -> CudaResult<Entered<'_>> {
        let entered = self.enter()?; // looks at borrowed contexts itself
        let is_numbered = self.is_primary() && self.number() != 0;
        match is_numbered.then(current_number) {
            Some(Ok(number)) if number != self.number() => Err(invalid_context()),
            Some(Err(_)) if self.is_gone() => Err(invalid_context()),
            Some(Err(error)) => Err(error),
            _ => Ok(entered),
        }
    }

    /// Fails when somebody has reset the device since: all that was in the context is gone.  The
    /// context must have been entered.  Costs some nanoseconds.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_CONTEXT_IS_DESTROYED`.
    pub fn check_not_reset(&self) -> CudaResult<()> {
        match current_number() {
            Ok(number) if number == self.number() => Ok(()),
            Ok(_) => {
                self.abandon_memory();
                Err(CudaError::of_call("cuCtxGetId", CONTEXT_IS_DESTROYED))
            }
            Err(error) => {
                if self.is_gone() {
                    self.abandon_memory();
                }
                Err(error)
            }
        }
    }

    /// Gives up what the context has kept and all that it knows of its memory, which is gone.
    pub(crate) fn abandon_memory(&self) {
        self.cache().abandon();
        if self.number() != 0 {
            live::forget_context(self.number());
        }
    }
}

/// The driver's number for the current context, which is no other's.
fn current_number() -> CudaResult<u64> {
    let mut number = 0u64;
    // SAFETY: null is the current context, so no handle is read; the place outlives the call.
    unsafe { call!(cuCtxGetId(std::ptr::null_mut(), (&raw mut number).cast())) }?;
    Ok(number)
}
