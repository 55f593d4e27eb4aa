//! Contexts.

use crate::Context;
use arrow_cuda_driver::{CudaError, CudaResult, check_cudarc, codes};
use cudarc::driver::CudaContext;
use std::sync::Arc;

impl Context {
    /// The context of `cudarc`, if it is a device's primary one.
    ///
    /// The result retains the context itself, so it outlives `context`.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    /// use cudarc::driver::CudaContext;
    ///
    /// Device::count()?; // first a call of these crates: `cudarc` then finds the simulator, too
    /// let theirs = CudaContext::new(0)?;
    /// let ours = Context::from_cudarc(&theirs)?;
    /// assert_eq!(ours.handle(), theirs.cu_ctx() as usize);
    /// assert_eq!(ours.to_cudarc()?, theirs);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CudaError::OtherDriver`] if `cudarc` has loaded another driver; `CUDA_ERROR_INVALID_CONTEXT` for a context
    /// that is not its device's primary one, which `cudarc` destroys with its last owner; driver errors.
    pub fn from_cudarc(context: &CudaContext) -> CudaResult<Self> {
        check_cudarc()?;
        let number = u32::try_from(context.ordinal()).unwrap_or(u32::MAX);
        let ours = Self::primary(number)?;
        match ours.handle() == context.cu_ctx() as usize {
            true => Ok(ours),
            false => Err(not_primary()),
        }
    }

    /// The context as one of `cudarc`, which retains it once more.  The thread's current context
    /// stays as it is.
    ///
    /// `cudarc` keeps count of streams, by which it decides what waits for what, in this object: take one for a
    /// device, and share it.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let ours = Context::primary(0)?;
    /// let theirs = ours.to_cudarc()?;
    /// assert_eq!(theirs.cu_ctx() as usize, ours.handle());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CudaError::OtherDriver`] if `cudarc` loads another driver, or finds none; `CUDA_ERROR_INVALID_CONTEXT` for a
    /// context that is gone, and for one that is not its device's primary context; driver errors.
    pub fn to_cudarc(&self) -> CudaResult<Arc<CudaContext>> {
        check_cudarc()?;
        if !self.is_primary() {
            return Err(not_primary());
        }
        // cudarc makes the context current for good; under the guard it is current already.
        let _current = self.enter()?;
        CudaContext::new(self.device().number() as usize).map_err(CudaError::of_cudarc)
    }
}

fn not_primary() -> CudaError {
    CudaError::of_call("cuDevicePrimaryCtxRetain", codes::INVALID_CONTEXT)
}
