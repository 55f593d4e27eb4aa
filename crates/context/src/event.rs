//! Events: points in the work of streams.

use crate::codes::{DISABLE_TIMING, INVALID_HANDLE};
use crate::sync::is_done;
use crate::{Context, Finished, RawEvent, Stream, finished};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, call, may_release};

/// A point in the work of a stream, once it is recorded there.
///
/// An event that was never recorded counts as done.  Dropping one affects nobody who waits for it.
///
/// ```
/// use arrow_cuda_context::{Context, Event, Stream};
///
/// let context = Context::primary(0)?;
/// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
/// let event = Event::new(&context)?;
/// event.record(&first)?;
/// second.wait_for(&event)?; // what is queued there from now on comes later
/// event.synchronize()?;
/// assert!(event.is_done()?);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Event {
    context: Context,
    raw: RawEvent,
    has_timing: bool,
}

// SAFETY: the driver's events may be used by any thread.
unsafe impl Send for Event {}
// SAFETY: and by several at a time.
unsafe impl Sync for Event {}

impl Event {
    /// An event that takes no time stamps, which is the faster kind.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, DISABLE_TIMING)
    }

    /// An event that takes the time when it is reached, see [`elapsed`](Self::elapsed).
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn with_timing(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, 0)
    }

    fn with_flags(context: &Context, flags: u32) -> CudaResult<Self> {
        let _current = context.enter_unless_gone()?;
        let raw = context.create_event_with(flags)?;
        Ok(Self { context: context.clone(), raw, has_timing: flags & DISABLE_TIMING == 0 })
    }

    /// The context that it was made in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The `CUevent` handle, valid as long as this lives.
    pub fn raw(&self) -> RawEvent {
        self.raw
    }

    /// Whether it takes time stamps.
    pub fn has_timing(&self) -> bool {
        self.has_timing
    }

    /// The handle, to be given up by the caller.
    pub(crate) fn into_raw(self) -> RawEvent {
        std::mem::ManuallyDrop::new(self).raw
    }

    /// Marks the end of what is queued on a stream so far.  An earlier mark is forgotten.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for a stream of another context, or the driver's.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        if !self.context.is_same(stream.context()) {
            return Err(CudaError::of_call("cuEventRecord", INVALID_HANDLE));
        }
        let _current = self.context.enter_unless_gone()?;
        // SAFETY: both live as long as their owners.
        unsafe { self.context.record_event(self.raw, stream.raw()) }
    }

    /// Blocks until the work before it is done, and hands out what was kept for such work.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub fn synchronize(&self) -> CudaResult<Finished> {
        let _current = self.context.enter_unless_gone()?;
        // SAFETY: the event lives as long as this.
        unsafe { self.context.wait_for_event(self.raw) }?;
        Ok(finished())
    }

    /// Whether the work before it is done.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub fn is_done(&self) -> CudaResult<bool> {
        let _current = self.context.enter_unless_gone()?;
        // SAFETY: the event lives as long as this.
        is_done(unsafe { call!(cuEventQuery(self.raw)) })
    }

    /// The milliseconds from this event to `end`; negative when it came earlier.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` when one takes no time stamps, was never recorded, or belongs to
    /// another context; `CUDA_ERROR_NOT_READY` when one is not done.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (stream, start) = (Stream::new(&context)?, Event::with_timing(&context)?);
    /// let end = Event::with_timing(&context)?;
    /// start.record(&stream)?;
    /// end.record(&stream)?;
    /// end.synchronize()?;
    /// assert!(start.elapsed(&end)? >= 0.0);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn elapsed(&self, end: &Self) -> CudaResult<f32> {
        if !self.context.is_same(&end.context) {
            return Err(CudaError::of_call("cuEventElapsedTime", INVALID_HANDLE));
        }
        let _current = self.context.enter_unless_gone()?;
        let mut milliseconds = 0f32;
        // SAFETY: live events, and a place that outlives the call.
        unsafe { call!(cuEventElapsedTime((&raw mut milliseconds).cast(), self.raw, end.raw)) }?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // Its handle may be another event's in the next context of a device that was reset.
        if may_release() && !self.context.is_gone() {
            // SAFETY: made here, and given up once.
            blocking(|| unsafe { self.context.destroy_event(self.raw) });
        }
    }
}
