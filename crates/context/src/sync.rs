//! Events and streams as raw handles: the driver's calls, for the types here and for libarrow's own
//! classes.

use crate::codes::{DISABLE_TIMING, NOT_READY};
use crate::{Context, Event};
use arrow_cuda_driver::{CudaResult, call, may_release, report_failure};
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// A `CUevent`.
pub type RawEvent = *mut c_void;
/// A `CUstream`.  Null is the legacy default stream.
pub type RawStream = *mut c_void;

/// An idle GPU reaches an event some microseconds after it was recorded.
const SOON: Duration = Duration::from_micros(100);

/// What has to be waited for, see [`Context::pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Nothing: all of it is done.
    Nothing,
    /// One of the events that were given.
    Given(RawEvent),
    /// A new event, to be given up by the caller.
    New(RawEvent),
}

/// The legacy default stream of the current context: what upstream's copies run on.
pub const DEFAULT_STREAM: RawStream = std::ptr::null_mut();

/// What the answer to a query says.
pub(crate) fn is_done(answer: CudaResult<()>) -> CudaResult<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Some(NOT_READY) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Context {
    /// Makes an event, without timing.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn create_event(&self) -> CudaResult<RawEvent> {
        self.create_event_with(DISABLE_TIMING)
    }

    /// Makes an event with the driver's `CU_EVENT_*` flags.
    pub(crate) fn create_event_with(&self, flags: u32) -> CudaResult<RawEvent> {
        let _current = self.enter()?;
        let mut event: RawEvent = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuEventCreate((&raw mut event).cast(), flags)) }?;
        Ok(event)
    }

    /// Records the work queued so far on a stream.
    ///
    /// # Safety
    ///
    /// Both handles must be live.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { call!(cuEventRecord(event, stream)) }
    }

    /// Blocks until the work that the event recorded is done.
    ///
    /// # Safety
    ///
    /// The handle must be live.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub unsafe fn wait_for_event(&self, event: RawEvent) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { call!(cuEventSynchronize(event)) }
    }

    /// Whether the work that the event recorded is done.
    ///
    /// # Safety
    ///
    /// The handle must be live.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub unsafe fn is_reached(&self, event: RawEvent) -> CudaResult<bool> {
        let _current = self.enter()?;
        // SAFETY: the caller's promise.
        is_done(unsafe { call!(cuEventQuery(event)) })
    }

    /// Whether work that was queued on the legacy default stream is not done yet.
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context no longer exists.
    pub fn is_default_stream_busy(&self) -> CudaResult<bool> {
        let _current = self.enter()?;
        // SAFETY: the null handle is the default stream of the current context.
        Ok(!is_done(unsafe { call!(cuStreamQuery(DEFAULT_STREAM)) })?)
    }

    /// What stands for all work that is not done yet: that of the given events, and that of the
    /// legacy default stream and the streams that are ordered with it.
    ///
    /// Streams made to be independent of the default stream are not seen.  Takes some microseconds,
    /// or a tenth of a millisecond where only streams that are ordered with it are busy.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Pending};
    ///
    /// let context = Context::primary(0)?;
    /// context.synchronize()?;
    /// // SAFETY: no events are given.
    /// assert_eq!(unsafe { context.pending(&[]) }?, Pending::Nothing);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The events must be live.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub unsafe fn pending(&self, events: &[RawEvent]) -> CudaResult<Pending> {
        let _current = self.enter()?;
        let mut unreached = Vec::new();
        for &event in events {
            // SAFETY: the caller's promise.
            if !unsafe { self.is_reached(event) }? {
                unreached.push(event);
            }
        }
        let is_busy = self.is_default_stream_busy()?;
        let fresh = Event::new(self)?;
        // SAFETY: an event of this context, and the default stream; the caller's promise.
        unsafe {
            self.record_event(fresh.raw(), DEFAULT_STREAM)?;
            // A query need not see more than the stream's own work (an H200's driver does).  The
            // event comes after that of the streams that are ordered with it as well.
            match (&*unreached, !is_busy && self.is_soon_reached(fresh.raw())?) {
                ([], true) => return Ok(Pending::Nothing),
                ([only], true) => return Ok(Pending::Given(*only)),
                ([], false) => {}
                (several, _) => {
                    for &event in several {
                        self.stream_wait_event(DEFAULT_STREAM, event)?;
                    }
                    self.record_event(fresh.raw(), DEFAULT_STREAM)?;
                }
            }
        }
        Ok(Pending::New(fresh.into_raw()))
    }

    /// Whether an event is reached by the time that a device with nothing to do needs to reach it.
    ///
    /// # Safety
    ///
    /// The handle must be live.
    unsafe fn is_soon_reached(&self, event: RawEvent) -> CudaResult<bool> {
        let start = Instant::now();
        loop {
            // SAFETY: the caller's promise.
            let is_reached = unsafe { self.is_reached(event) }?;
            if is_reached || start.elapsed() > SOON {
                return Ok(is_reached);
            }
            std::hint::spin_loop();
        }
    }

    /// Gives an event up.
    ///
    /// # Safety
    ///
    /// The handle must be live, and is not any more.
    pub unsafe fn destroy_event(&self, event: RawEvent) {
        if !may_release() {
            return;
        }
        let destroyed = self.enter().and_then(|_current| {
            // SAFETY: the caller's promise.
            unsafe { call!(cuEventDestroy_v2(event)) }
        });
        report_failure("an event", destroyed);
    }

    /// Makes a stream with the driver's `CU_STREAM_*` flags.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn create_stream(&self, flags: u32) -> CudaResult<RawStream> {
        let _current = self.enter()?;
        let mut stream: RawStream = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuStreamCreate((&raw mut stream).cast(), flags)) }?;
        Ok(stream)
    }

    /// Makes a stream wait for an event, without blocking the caller.
    ///
    /// # Safety
    ///
    /// Both handles must be live.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub unsafe fn stream_wait_event(&self, stream: RawStream, event: RawEvent) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { call!(cuStreamWaitEvent(stream, event, 0)) }
    }

    /// Blocks until a stream is empty.
    ///
    /// # Safety
    ///
    /// The handle must be live.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub unsafe fn synchronize_stream(&self, stream: RawStream) -> CudaResult<()> {
        let _current = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { call!(cuStreamSynchronize(stream)) }
    }

    /// Gives a stream up.
    ///
    /// # Safety
    ///
    /// The handle must be live, and is not any more.
    pub unsafe fn destroy_stream(&self, stream: RawStream) {
        if may_release() {
            // SAFETY: the caller's promise.
            report_failure("a stream", unsafe { call!(cuStreamDestroy_v2(stream)) });
        }
    }
}
