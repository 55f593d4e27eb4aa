//! Resets a device: waits for the work of other contexts, then has the driver destroy the primary context.

use super::users::await_other_users_of;
use crate::{Device, contexts};
use arrow_cuda_driver::{CudaResult, call};

impl Device {
    /// Destroys the device's primary context with everything in it, whichever library of this
    /// process has made it.  The next use of the device makes a new one.
    ///
    /// Blocks until no other context of the process has work, because that work may use memory of this one.  The driver
    /// does not wait for kernels of other devices, and they would fault (seen on two H200s).
    ///
    /// Objects of these crates stay safe to use.  Each use of one that belongs to the context fails with the error
    /// for a context that is gone.  Pinned host memory that was allocated here becomes ordinary memory.
    ///
    /// ```standalone_crate
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let before = Context::primary(0)?;
    /// // SAFETY: nobody else uses the device.
    /// unsafe { Device::get(0)?.reset() }?;
    /// assert!(before.synchronize().is_err_and(|error| error.is_context_gone()));
    /// Context::primary(0)?.synchronize()?;
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # let device = arrow_cuda_context::Device::get(0).expect("a device");
    /// device.reset();
    /// ```
    ///
    /// # Safety
    ///
    /// No other thread may be in a call of the driver that concerns the device: drivers do not guard against that.  No
    /// other library may use what it has there afterwards, not even to release it.  Nobody may read or write its pinned
    /// memory.  This includes what `cust` and `cudarc` have made, lent or borrowed, and host buffers over their
    /// memory.  A [`Current`](crate::Current) of the context may only be dropped.
    ///
    /// # Errors
    ///
    /// If the wait fails, or the driver cannot reset the device.  The wait fails, and ends the capture, if a stream of
    /// another context is being captured.
    pub unsafe fn reset(self) -> CudaResult<()> {
        let device = self.handle()?;
        if self.has_primary_context()? {
            let _unused = await_other_users_of(self)?;
        }
        // SAFETY: takes no pointer; every use of the context here finds that it is gone, and the caller guarantees the
        // same of others.
        unsafe { call!(cuDevicePrimaryCtxReset_v2(device)) }?;
        if contexts::number_of_current().is_err_and(|error| error.is_context_gone()) {
            // The thread does not keep the dead context, whose handle will be the next one's.
            // SAFETY: null stands for no context.
            unsafe { call!(cuCtxSetCurrent(std::ptr::null_mut())) }?;
        }
        Ok(())
    }
}
