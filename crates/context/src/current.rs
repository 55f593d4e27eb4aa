//! Making a context current for the length of a call, and undoing it.

use crate::Context;
use arrow_cuda_driver::{CudaResult, call, report_failure};
use std::ffi::c_void;
use std::marker::PhantomData;

/// A context is current while this lives.  Dropping it gives the thread back the context that
/// was current before, whatever happened in between.
///
/// ```
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// {
///     let _entered = context.enter()?;
///     // Calls of the driver by this thread work in the context here.
/// }
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[must_use = "the context is current only while this lives"]
pub struct Entered<'context> {
    /// What was current, when it was another context.
    covered: Option<*mut c_void>,
    // Contexts are current for a thread: this must be dropped on the same one.
    context: PhantomData<(&'context Context, *const ())>,
}

impl Context {
    /// Makes the context current on this thread until the result is dropped.
    ///
    /// Costs one query where it is current already; nothing is pushed then.
    ///
    /// # Errors
    ///
    /// When the context no longer exists.  The thread's current context is unchanged then.
    pub fn enter(&self) -> CudaResult<Entered<'_>> {
        self.check_alive()?;
        let mut current: *mut c_void = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuCtxGetCurrent((&raw mut current).cast())) }?;
        if current == self.raw() {
            return Ok(Entered { covered: None, context: PhantomData });
        }
        // SAFETY: the handle was found alive above.
        unsafe { call!(cuCtxPushCurrent_v2(self.raw())) }?;
        Ok(Entered { covered: Some(current), context: PhantomData })
    }
}

impl Drop for Entered<'_> {
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
