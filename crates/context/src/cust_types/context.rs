//! Contexts, and the one that is current.

use crate::out_param::out_param;
use crate::{Context, Device};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes};

impl Context {
    /// The context of `cust`, which is a device's primary one.
    ///
    /// The result retains the context itself, so it outlives `context`.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let theirs = cust::quick_init().expect("a device");
    /// let ours = Context::from_cust(&theirs)?;
    /// assert_eq!(ours.handle(), theirs.as_raw() as usize);
    /// assert_eq!(ours.to_cust()?.as_raw(), theirs.as_raw());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` when somebody has reset the device, or driver errors.
    pub fn from_cust(context: &cust::context::Context) -> CudaResult<Self> {
        // SAFETY: a live context, which the caller lends, and which is retained below.
        let known = unsafe { with_handle(context.as_raw() as usize) }?;
        Self::primary(known.device().number())
    }

    /// The context as one of `cust`, which retains it once more.  The thread's current context
    /// stays as it is.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let ours = Context::primary(0)?;
    /// let theirs = ours.to_cust()?;
    /// assert_eq!(theirs.as_raw() as usize, ours.handle());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` for a context that is gone, and for one that is not its device's
    /// primary context: `cust` has no others.
    pub fn to_cust(&self) -> CudaResult<cust::context::Context> {
        if !self.is_primary() {
            return Err(CudaError::of_call("cuDevicePrimaryCtxRetain", codes::INVALID_CONTEXT));
        }
        // cust makes the context current for good; under the guard it is current already.
        let _current = self.enter()?;
        let device = cust::device::Device::get_device(self.device().number());
        device.and_then(cust::context::Context::new).map_err(CudaError::last)
    }

    /// The context that is current on this thread, in which `cust` works, if any.
    ///
    /// The result borrows the context from its owner, as [`borrowed`](Self::borrowed) does.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use cust::context::CurrentContext;
    ///
    /// let theirs = cust::quick_init().expect("a device");
    /// CurrentContext::set_current(&theirs).expect("a live context");
    /// // SAFETY: a primary context, which stays.
    /// let current = unsafe { Context::current() }?.expect("a current context");
    /// assert_eq!(current.handle(), theirs.as_raw() as usize);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`borrowed`](Self::borrowed): `cust`'s `legacy` contexts are destroyed when they are dropped.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` when the context is gone, or driver errors.
    pub unsafe fn current() -> CudaResult<Option<Self>> {
        Device::count()?; // a driver that was not initialised refuses the next call
        // SAFETY: stores a handle.
        match out_param(0usize, |at| unsafe { call!(cuCtxGetCurrent(at)) })? {
            0 => Ok(None),
            // SAFETY: guaranteed by the caller.
            handle => unsafe { with_handle(handle) }.map(Some),
        }
    }
}

/// The context of a handle, on whichever device it is.
///
/// # Safety
///
/// As for [`Context::borrowed`].
unsafe fn with_handle(handle: usize) -> CudaResult<Context> {
    for device in 0..Device::count()? {
        // SAFETY: guaranteed by the caller.
        match unsafe { Context::borrowed(device, handle) } {
            // It may be on another device.
            Err(error) if error.is_context_gone() => {}
            found => return found,
        }
    }
    Err(CudaError::of_call("cuCtxGetDevice", codes::INVALID_CONTEXT))
}
