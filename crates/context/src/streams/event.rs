//! CUDA events.

use crate::out_param::out_param;
use crate::{Context, Current, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query};
use std::any::Any;
use std::ffi::c_void;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// An owner that keeps memory valid.
///
/// ```
/// use arrow_cuda_context::{Context, Retained, Stream};
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let owner: Retained = Box::new(vec![7; 64]);
/// stream.enqueue(owner, |_current, _stream| Ok(()))?;
/// assert_eq!(stream.synchronize()?.len(), 1);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
pub type Retained = Box<dyn Any + Send + Sync>;

/// A `CUevent`.
type RawEvent = *mut c_void;

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

/// A point in the work of a stream, once it is recorded there.
///
/// A clone is the same event.  An event that was never recorded counts as reached.  Dropping the
/// last clone does not affect those who wait for it.
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
/// assert!(event.is_complete()?);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Event(Arc<State>);

#[derive(Debug)]
struct State {
    context: Context,
    raw: RawEvent,
    has_timing: Option<bool>,
    /// Of an event of another library, which it keeps alive; none of one that was made here.
    owner: Option<Retained>,
}

// SAFETY: the driver's events may be used by any thread.
unsafe impl Send for State {}
// SAFETY: and by several at a time.
unsafe impl Sync for State {}

// It only drops the objects of other libraries that it owns.
impl UnwindSafe for Event {}
impl RefUnwindSafe for Event {}

/// Clones are equal, and so are two objects for one event of the driver.
impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.0.raw == other.0.raw && self.context().is_same(other.context())
    }
}

impl Eq for Event {}

impl Event {
    /// An event without time stamps, which is faster.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let event = Event::new(&Context::primary(0)?)?;
    /// assert!(event.is_complete()? && event.has_timing() == Some(false)); // never recorded
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone, or the driver has no room; other driver errors.
    pub fn new(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, DISABLE_TIMING)
    }

    /// An event that records the time when it is reached; see [`elapsed`](Self::elapsed).
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let event = Event::with_timing(&Context::primary(0)?)?;
    /// assert_eq!(event.has_timing(), Some(true));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone, or the driver has no room; other driver errors.
    pub fn with_timing(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, 0)
    }

    /// An event with the driver's `CU_EVENT_*` flags.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let context = Context::primary(0)?;
    /// let event = Event::with_flags(&context, 1 | 2)?; // CU_EVENT_BLOCKING_SYNC and CU_EVENT_DISABLE_TIMING
    /// assert_eq!(event.has_timing(), Some(false));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for flags that do not go together, or driver errors.
    pub fn with_flags(context: &Context, flags: u32) -> CudaResult<Self> {
        Self::made_in(&context.enter()?, flags)
    }

    /// As [`new`](Self::new), under a guard that the caller holds already.
    pub(crate) fn new_in(current: &Current<'_>) -> CudaResult<Self> {
        Self::made_in(current, DISABLE_TIMING)
    }

    fn made_in(current: &Current<'_>, flags: u32) -> CudaResult<Self> {
        // SAFETY: stores a handle.
        let raw = out_param(std::ptr::null_mut(), |at| unsafe { call!(cuEventCreate(at, flags)) })?;
        Ok(Self::of(current.context(), raw, Some(flags & DISABLE_TIMING == 0), None))
    }

    /// An event of another library, which `owner` keeps alive.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let context = Context::primary(0)?;
    /// let theirs = Event::new(&context)?; // as if of another library
    /// // SAFETY: an event of the context, which the clone keeps alive.
    /// let ours = unsafe { Event::borrowed(&context, theirs.as_raw(), Box::new(theirs.clone())) };
    /// assert_eq!(ours, theirs);
    /// assert_eq!(ours.has_timing(), None);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The handle must be that of an event of the context, and live as long as `owner`.
    pub unsafe fn borrowed(context: &Context, raw: *mut c_void, owner: Retained) -> Self {
        Self::of(context, raw, None, Some(owner))
    }

    fn of(
        context: &Context,
        raw: RawEvent,
        has_timing: Option<bool>,
        owner: Option<Retained>,
    ) -> Self {
        Self(Arc::new(State { context: context.clone(), raw, has_timing, owner }))
    }

    /// The context that it was made in.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let context = Context::primary(0)?;
    /// assert!(Event::new(&context)?.context().is_same(&context));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The `CUevent` handle, for other libraries, valid as long as this or a clone lives.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let event = Event::new(&Context::primary(0)?)?;
    /// assert!(!event.as_raw().is_null());
    /// assert_eq!(event.clone().as_raw(), event.as_raw());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn as_raw(&self) -> *mut c_void {
        self.0.raw
    }

    /// Whether it records time stamps; `None` for another library's, of which no driver tells.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event};
    ///
    /// let context = Context::primary(0)?;
    /// assert_eq!(Event::with_timing(&context)?.has_timing(), Some(true));
    /// assert_eq!(Event::new(&context)?.has_timing(), Some(false));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn has_timing(&self) -> Option<bool> {
        self.0.has_timing
    }

    /// As [`synchronize`](Self::synchronize), but no signal ends the wait, and what was retained is left to
    /// later uses of its stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let event = stream.record()?;
    /// event.wait()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn wait(&self) -> CudaResult<()> {
        let _current = self.context().enter()?;
        // SAFETY: a live handle.
        unsafe { call!(cuEventSynchronize(self.as_raw())) }
    }

    /// Whether the work before it is complete.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let event = stream.record()?;
    /// stream.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn is_complete(&self) -> CudaResult<bool> {
        self.context().enter()?.is_reached(self)
    }

    /// The milliseconds from this event to `end`; negative when `end` came earlier.
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
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` when an event records no time stamps, was never recorded, or
    /// belongs to another context; `CUDA_ERROR_NOT_READY` when one is not reached yet.
    pub fn elapsed(&self, end: &Self) -> CudaResult<f32> {
        if !self.context().is_same(end.context()) {
            let error = CudaError::of_call("cuEventElapsedTime", codes::INVALID_HANDLE);
            let text = "the events belong to different contexts";
            return Err(error.advised(codes::INVALID_HANDLE, || text.to_owned()));
        }
        let _current = self.context().enter()?;
        let (start, end) = (self.as_raw(), end.as_raw());
        // SAFETY: live handles; stores the milliseconds.
        let elapsed = out_param(0f32, |at| unsafe { call!(cuEventElapsedTime(at, start, end)) });
        elapsed.map_err(|error| {
            let error = error.advised(codes::INVALID_HANDLE, || {
                "make both events with timing, and record them".to_owned()
            });
            error.advised(codes::NOT_READY, || {
                "one of the events is not reached yet: event.synchronize() waits for it".to_owned()
            })
        })
    }
}

impl Current<'_> {
    /// The handle, for a function of the driver.  Refuses an event of another context: that one may be destroyed, and
    /// the driver would read through a dangling handle.
    fn raw_event(&self, event: &Event, function: &'static str) -> CudaResult<RawEvent> {
        match event.context().is_same(self.context()) {
            true => Ok(event.as_raw()),
            false => Err(CudaError::of_call(function, codes::INVALID_HANDLE)),
        }
    }

    /// Like [`Event::record`], under a guard that the caller holds already.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (event, stream) = (Event::new(&context)?, Stream::new(&context)?);
    /// context.enter()?.record(&event, stream.handle())?;
    /// stream.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for an event or a stream of another context, or driver errors.
    pub fn record(&self, event: &Event, stream: StreamHandle<'_>) -> CudaResult<()> {
        let (event, stream) = (self.raw_event(event, "cuEventRecord")?, self.raw_stream(stream)?);
        // SAFETY: live handles.
        unsafe { call!(cuEventRecord(event, stream)) }
    }

    /// Records an event after all work of the context, on all streams, those of other libraries
    /// included.
    pub(super) fn record_on_all_streams(&self, event: &Event) -> CudaResult<()> {
        let event = self.raw_event(event, "cuCtxRecordEvent")?;
        // SAFETY: a live handle; the context is alive.
        unsafe { call!(cuCtxRecordEvent(self.context().raw(), event)) }
    }

    /// Like [`Event::is_complete`], under a guard that the caller holds already.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (stream, current) = (Stream::new(&context)?, context.enter()?);
    /// let event = stream.record()?;
    /// stream.synchronize()?;
    /// assert!(current.is_reached(&event)?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for an event of another context, or driver errors.
    pub fn is_reached(&self, event: &Event) -> CudaResult<bool> {
        let event = self.raw_event(event, "cuEventQuery")?;
        // SAFETY: a live handle.
        unsafe { query!(cuEventQuery(event)) }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.owner.is_none() {
            // SAFETY: made here, and destroyed once.
            self.context.release("an event", |_| unsafe { call!(cuEventDestroy_v2(self.raw)) });
        }
    }
}
