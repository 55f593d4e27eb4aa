//! The guard under which a context is current: the only way to the driver's calls.

use super::context::gone;
use super::{Context, identity};
use arrow_cuda_driver::{CudaResult, blocking, call, may_release, report_failure};
use std::ffi::c_void;
use std::marker::PhantomData;

/// A context that exists, and that is current on this thread as long as this lives.
///
/// What the driver does in its current context are the methods of this type, so nothing of it can be
/// asked in another context, in one that is gone, or in none.  They stand in `calls/`, by noun.
/// Dropping the guard gives the thread back the context that was current before, whatever happened in
/// between.  The guards of a thread have to be dropped in the reverse order of their making, as scopes
/// do: the driver has one stack of contexts for each thread.
///
/// ```
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let current = context.enter()?;
/// let address = current.allocate_memory(100)?;
/// assert!(current.free_memory()? > 0);
/// // SAFETY: nobody else has seen the address.
/// unsafe { current.release_memory(address) }?;
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[must_use = "the context is current only while this lives"]
#[derive(Debug)]
pub struct Current<'context> {
    context: &'context Context,
    /// What was current before, when it was another context.
    covered: Option<*mut c_void>,
    /// A context is current for a thread, so the guard stays on it.
    not_send: PhantomData<*const ()>,
}

impl Context {
    /// Makes the context current on this thread until the result is dropped.
    ///
    /// This is the one place that asks whether the context may be used: not in a forked child, not
    /// after its maker has destroyed it, not after somebody has reset its device, which takes all
    /// that was made in it.  Costs two queries where the context is current already.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` for a context that is gone; the thread's current context is
    /// unchanged then.
    pub fn enter(&self) -> CudaResult<Current<'_>> {
        if !self.is_primary() {
            self.check_identity()?;
        }
        let mut covered: *mut c_void = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuCtxGetCurrent((&raw mut covered).cast())) }?;
        let mut current = Current { context: self, covered: None, not_send: PhantomData };
        if covered != self.raw() {
            // SAFETY: the handle of a context that was found alive, or of a primary one, whose
            // handle the driver keeps readable.
            unsafe { call!(cuCtxPushCurrent_v2(self.raw())) }?;
            current.covered = Some(covered);
        }
        if self.is_primary() && self.is_numbered() {
            match identity::number_of_current() {
                Ok(number) if number == self.number() => {}
                Ok(_) => return Err(gone()),
                Err(error) if error.is_context_gone() || !self.is_alive() => return Err(gone()),
                Err(error) => return Err(error),
            }
        }
        Ok(current)
    }

    /// Releases something that the driver has made in the context, for a destructor.
    ///
    /// This is the one place that knows when nothing is to be released: in a forked child, while the
    /// process exits, and when the context is gone, for then all that was in it is gone too, and its
    /// addresses and handles may be somebody else's.  A failure is reported as that of `what`.
    pub fn release(&self, what: &str, release: impl FnOnce(&Current<'_>) -> CudaResult<()>) {
        if !may_release() {
            return;
        }
        let outcome = blocking(|| match self.enter() {
            Ok(current) => release(&current),
            Err(error) if error.is_context_gone() => Ok(()),
            Err(error) => Err(error),
        });
        report_failure(what, outcome);
    }
}

impl Current<'_> {
    /// The context that is current.
    pub fn context(&self) -> &Context {
        self.context
    }

    /// The driver's handle of the context's device.
    pub(super) fn device_handle(&self) -> CudaResult<i32> {
        let mut device = 0i32;
        // SAFETY: stores a number through the pointer, which outlives the call.
        unsafe { call!(cuCtxGetDevice((&raw mut device).cast())) }?;
        Ok(device)
    }

    /// Blocks until the device has completed everything that was queued in the context.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: takes no pointer.
        unsafe { call!(cuCtxSynchronize()) }
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let Some(covered) = self.covered else { return };
        let mut popped: *mut c_void = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        let left = unsafe { call!(cuCtxPopCurrent_v2((&raw mut popped).cast())) };
        if left.is_err() {
            report_failure("the current context", left);
            // The thread must not go on with our context, whatever became of the stack.
            // SAFETY: the handle that the driver gave for the thread's current context.
            let set = unsafe { call!(cuCtxSetCurrent(covered)) };
            report_failure("the current context", set);
        }
    }
}
