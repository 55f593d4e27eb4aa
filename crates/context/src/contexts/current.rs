//! The guard that makes a context current.  All calls that need a current context go through it.

use super::Context;
use super::captures::{self, Relaxed};
use super::identity::{self, gone};
use crate::out_param::out_param;
use arrow_cuda_driver::{CudaResult, blocking, call, may_release, report_failure};
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

/// Keeps a live context current on this thread until it is dropped.
///
/// Every driver function that works in the current context is called where one of these is held, so
/// none can run in another context, in one that is gone, or in none.  Most are methods of this type,
/// which are in `calls/`, grouped by noun; [`Stream`](crate::Stream) and [`Event`](crate::Event) call
/// what concerns them alone.  As long as it lives, the thread is in the relaxed capture mode: none of
/// these calls ends a graph capture that another library has under way on another stream.  Dropping the
/// guard restores the mode, and the context that was current before, whatever happened in between.  The driver has
/// one stack of contexts for each thread, so guards must be dropped in the reverse order of their creation, as scopes
/// do.
///
/// ```
/// use arrow_cuda_context::{Context, Unused};
///
/// let context = Context::primary(0)?;
/// let current = context.enter()?;
/// let address = current.allocate_memory(100)?;
/// assert!(current.free_memory()? > 0);
/// // SAFETY: nobody else has seen the address.
/// unsafe { current.release_memory(address, &Unused::promised()) }?;
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[must_use = "the context is current only while this lives"]
#[derive(Debug)]
pub struct Current<'context> {
    context: &'context Context,
    /// The context that was current before, if it was another one.
    previous: Option<*mut c_void>,
    relaxed: Option<Relaxed>,
    /// Whether no capture stood in the way of the default stream when it was used first.
    may_use_default_stream: Cell<bool>,
    /// A context is current for a thread, so the guard stays on it.
    not_send: PhantomData<*const ()>,
}

impl Context {
    /// Makes the context current on this thread until the result is dropped.
    ///
    /// This is the one place that decides whether the context may be used: it refuses in a forked
    /// child, after the context's owner has destroyed it, and after somebody has reset its device,
    /// which destroys everything in the context.  If the context is current already, it costs two
    /// queries, and an exchange of the thread's capture mode unless the thread has another guard.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// assert_eq!(Device::current()?, Some(context.device()));
    /// drop(current);
    /// assert_eq!(Device::current()?, None); // as before
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` for a context that is gone; the thread's current context is
    /// unchanged then.
    pub fn enter(&self) -> CudaResult<Current<'_>> {
        if !self.is_primary() {
            self.check_identity()?;
        }
        // SAFETY: stores a handle.
        let previous = out_param(ptr::null_mut(), |at| unsafe { call!(cuCtxGetCurrent(at)) })?;
        let mut current = Current {
            context: self,
            previous: None,
            relaxed: None,
            may_use_default_stream: Cell::new(false),
            not_send: PhantomData,
        };
        if previous != self.raw() {
            // SAFETY: the handle of a context that was found alive, or of a primary one, whose
            // handle the driver keeps readable.
            unsafe { call!(cuCtxPushCurrent_v2(self.raw())) }
                .map_err(|error| if error.is_context_gone() { gone() } else { error })?;
            current.previous = Some(previous);
        }
        if self.is_primary() && self.is_numbered() {
            match identity::number_of_current() {
                Ok(number) if number == self.number() => {}
                Ok(_) => return Err(gone()),
                Err(error) if error.is_context_gone() || !self.is_alive() => return Err(gone()),
                Err(error) => return Err(error),
            }
        }
        current.relaxed = Some(Relaxed::begin());
        Ok(current)
    }

    /// Makes the context the thread's current one in place of the one that is, for all libraries in
    /// the process.  [`enter`](Self::enter) is for this project's own calls.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// context.make_current()?;
    /// assert_eq!(Device::current()?, Some(context.device()));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` for a context that is gone; the thread's current context is
    /// unchanged then.
    pub fn make_current(&self) -> CudaResult<()> {
        self.check_identity()?;
        // SAFETY: the handle of a context that was found alive.
        unsafe { call!(cuCtxSetCurrent(self.raw())) }
    }

    /// Releases a resource that the driver has created in the context; for destructors.
    ///
    /// It releases nothing in a forked child, while the process exits, and when the context is gone.  The driver has
    /// then destroyed everything in the context, and its addresses and handles may belong to somebody else.  A
    /// failure is reported as that of `what`.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Unused};
    ///
    /// let context = Context::primary(0)?;
    /// let address = context.enter()?.allocate_memory(100)?;
    /// // SAFETY: nobody else has seen the address, which is released once.
    /// context.release("a table", |current| unsafe {
    ///     current.release_memory(address, &Unused::promised())
    /// });
    /// assert!(context.enter()?.allocation_at(address).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn release(&self, what: &str, release: impl FnOnce(&Current<'_>) -> CudaResult<()>) {
        if !may_release() {
            return;
        }
        let outcome = blocking(|| match self.enter() {
            Ok(current) => release(&current),
            Err(error) if self.is_gone(&error) => Ok(()),
            Err(error) => Err(error),
        });
        report_failure(what, outcome);
    }
}

impl<'context> Current<'context> {
    /// The context that is current.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// assert!(current.context().is_same(&context));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn context(&self) -> &'context Context {
        self.context
    }

    /// Fails, and ends no capture, where work on the legacy default stream would end one.
    pub(crate) fn check_default_stream(&self) -> CudaResult<()> {
        if !self.may_use_default_stream.get() {
            captures::check_default_stream()?;
            self.may_use_default_stream.set(true);
        }
        Ok(())
    }

    pub(super) fn device_handle(&self) -> CudaResult<i32> {
        // SAFETY: stores a number.
        out_param(0i32, |at| unsafe { call!(cuCtxGetDevice(at)) })
    }

    /// Blocks until the device has completed everything that was queued in the context.  No mode lets the driver do
    /// so during a capture in the context, which this ends.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let event = Stream::non_blocking(&context)?.record()?;
    /// context.enter()?.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: takes no pointer.
        unsafe { call!(cuCtxSynchronize()) }
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        self.relaxed = None; // while the context is current
        let Some(previous) = self.previous else { return };
        // SAFETY: stores a handle.
        let left = out_param(0usize, |at| unsafe { call!(cuCtxPopCurrent_v2(at)) });
        if left.is_err() {
            report_failure("the current context", left.map(drop));
            // The thread must not continue with our context, whatever the state of the stack.
            // SAFETY: the handle that the driver gave for the thread's current context.
            let set = unsafe { call!(cuCtxSetCurrent(previous)) };
            report_failure("the current context", set);
        }
    }
}
