//! Streams: queues of work on a device.

use super::in_flight::InFlight;
use crate::calls::{RawStream, StreamHandle};
use crate::out_param::out_param;
use crate::{Completed, Context, Current, Event, Retained, is_readable};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// `CU_STREAM_NON_BLOCKING`: not ordered with the legacy default stream.
const NON_BLOCKING: u32 = 1;
/// The handle that names the legacy default stream, as null does unless a program is compiled otherwise.
const LEGACY: usize = 1;
/// Handles up to this one name default streams: the legacy one (0 and 1), and the thread's own (2).
const LAST_DEFAULT: usize = 2;

/// A queue of work that a device completes in order, concurrently with other streams.
///
/// A clone is the same stream.  Dropping the last clone destroys the driver's stream; queued work
/// is completed all the same, and what it needs is retained until then
/// ([`enqueue`](Self::enqueue)).
///
/// ```
/// use arrow_cuda_context::{Context, Stream};
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let event = stream.record()?;
/// stream.synchronize()?;
/// assert!(event.is_complete()? && stream.is_complete()?);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Arc<State>);

#[derive(Debug)]
struct State {
    context: Context,
    raw: RawStream,
    /// Of a stream of another library, which it keeps alive, or a placeholder of a default stream, which is the
    /// context's; none of a stream that was made here.
    owner: Option<Retained>,
}

// SAFETY: the driver's streams may be used by any thread.
unsafe impl Send for State {}
// SAFETY: and by several at a time.
unsafe impl Sync for State {}

// It only drops the objects of other libraries that it owns.
impl UnwindSafe for Stream {}
impl RefUnwindSafe for Stream {}

/// Whether both are the same stream of the driver.
impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.0.raw == other.0.raw && self.context() == other.context()
    }
}

impl Eq for Stream {}

impl Stream {
    /// A stream that is ordered with the legacy default stream: each begins work only when the work
    /// queued earlier on the other is complete.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// assert!(stream.is_complete()?); // nothing is queued yet
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone, or the driver has no room; other driver errors.
    pub fn new(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, 0)
    }

    /// A stream that is independent of the legacy default stream, and so of copies without a
    /// stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::non_blocking(&Context::primary(0)?)?;
    /// assert!(stream.is_complete()?); // whatever the default stream does
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone, or the driver has no room; other driver errors.
    pub fn non_blocking(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, NON_BLOCKING)
    }

    /// A stream with the driver's `CU_STREAM_*` flags.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::with_flags(&Context::primary(0)?, 1)?; // CU_STREAM_NON_BLOCKING
    /// assert!(stream.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone; `CUDA_ERROR_INVALID_VALUE` for flags that the driver does not know; other driver
    /// errors.
    pub fn with_flags(context: &Context, flags: u32) -> CudaResult<Self> {
        Self::with_priority(context, flags, 0)
    }

    /// A stream with the driver's `CU_STREAM_*` flags and a priority: lower numbers come first.  The
    /// driver replaces a priority outside of [`priorities`](Self::priorities) by the nearest one.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (_, greatest) = Stream::priorities(&context)?;
    /// assert_eq!(Stream::with_priority(&context, 0, greatest)?.priority()?, greatest);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone; `CUDA_ERROR_INVALID_VALUE` for flags that the driver does not know; other driver
    /// errors.
    pub fn with_priority(context: &Context, flags: u32, priority: i32) -> CudaResult<Self> {
        let _current = context.enter()?;
        // SAFETY: stores a handle.
        let raw = out_param(std::ptr::null_mut(), |at| unsafe {
            match priority {
                0 => call!(cuStreamCreate(at, flags)),
                priority => call!(cuStreamCreateWithPriority(at, flags, priority)),
            }
        })?;
        Ok(Self::of(context, raw, None))
    }

    /// The least and the greatest priority that streams of a context can have, such as (0, -5).
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let (least, greatest) = Stream::priorities(&Context::primary(0)?)?;
    /// assert!(greatest <= least);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone; other driver errors.
    pub fn priorities(context: &Context) -> CudaResult<(i32, i32)> {
        let _current = context.enter()?;
        let (mut least, mut greatest) = (0i32, 0i32);
        let places = ((&raw mut least).cast(), (&raw mut greatest).cast());
        // SAFETY: stores two numbers through the pointers, which outlive the call.
        unsafe { call!(cuCtxGetStreamPriorityRange(places.0, places.1)) }?;
        Ok((least, greatest))
    }

    /// The stream's priority.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// assert_eq!(stream.priority()?, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone; other driver errors.
    pub fn priority(&self) -> CudaResult<i32> {
        let _current = self.context().enter()?;
        // SAFETY: a live handle; stores a number.
        out_param(0i32, |at| unsafe { call!(cuStreamGetPriority(self.as_raw(), at)) })
    }

    /// The legacy default stream of a context.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::default_of(&Context::primary(0)?);
    /// stream.synchronize()?;
    /// assert!(stream.as_raw().is_null());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn default_of(context: &Context) -> Self {
        Self::of(context, std::ptr::null_mut(), Some(Box::new(())))
    }

    /// A stream of another library that belongs to one of `contexts`, else `None`.  The handles of
    /// the default streams (0, 1 and 2) stand for those of the first context.
    ///
    /// The driver dereferences the handle, so this refuses one that is not readable memory.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let theirs = Stream::new(&context)?; // as if of another library
    /// // SAFETY: a stream, which the clone keeps alive.
    /// let ours = unsafe { Stream::borrowed(&[&context], theirs.as_raw(), Box::new(theirs.clone())) }?;
    /// assert_eq!(ours, Some(theirs));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The handle must be that of a stream, or a default stream's, which lives as long as `owner`.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for what cannot be a stream, or driver errors.
    pub unsafe fn borrowed(
        contexts: &[&Context],
        raw: RawStream,
        owner: Retained,
    ) -> CudaResult<Option<Self>> {
        if raw.addr() <= LAST_DEFAULT {
            // Under one handle, so that nothing takes it for another stream.
            let raw = if raw.addr() == LEGACY { std::ptr::null_mut() } else { raw };
            let first = contexts.first();
            return Ok(first.map(|context| Self::of(context, raw, Some(Box::new(())))));
        }
        if !is_readable(raw.addr()) {
            return Err(CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE));
        }
        // SAFETY: guaranteed by the caller; stores a handle.
        let handle = out_param(0usize, |at| unsafe { call!(cuStreamGetCtx(raw, at)) })?;
        let found = contexts.iter().find(|context| context.handle() == handle);
        Ok(found.map(|context| Self::of(context, raw, Some(owner))))
    }

    fn of(context: &Context, raw: RawStream, owner: Option<Retained>) -> Self {
        Self(Arc::new(State { context: context.clone(), raw, owner }))
    }

    /// The context that it belongs to.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// assert!(Stream::new(&context)?.context().is_same(&context));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The `CUstream` handle, for other libraries, valid as long as this or a clone lives.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// assert!(!stream.as_raw().is_null());
    /// assert_eq!(stream.clone().as_raw(), stream.as_raw());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn as_raw(&self) -> RawStream {
        self.0.raw
    }

    /// The handle for the calls of [`Current`].
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// assert!(context.enter()?.is_stream_complete(stream.handle())?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn handle(&self) -> StreamHandle<'_> {
        // SAFETY: a stream of the context, which lives as long as this.
        unsafe { StreamHandle::new(self.0.raw, self.context()) }
    }

    /// Queues work, and retains `retained` until it is complete, even if the stream is dropped.
    ///
    /// `work` is called at once, under the guard of the stream's context; it must queue its work
    /// and return.  If it panics, what it has queued so far retains the owner all the same.  The result
    /// holds the owners of earlier work that is complete by now, on this stream and on a few others of the
    /// context.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// let address = block.private_address();
    /// // SAFETY: the stream retains the block until the fill is complete.
    /// stream.enqueue(Box::new(block), |current, handle| unsafe {
    ///     current.queue_fill(address, 7, 100, handle)
    /// })?;
    /// assert_eq!(stream.synchronize()?.len(), 1); // the block
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of `work`; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` if the stream is being captured
    /// into a graph, which could use the retained memory at any later time; driver errors.
    pub fn enqueue(
        &self,
        retained: Retained,
        work: impl FnOnce(&Current<'_>, StreamHandle<'_>) -> CudaResult<()>,
    ) -> CudaResult<Completed> {
        let (context, handle) = (self.context(), self.handle());
        let current = context.enter()?;
        current.refuse_capture(handle)?;
        let in_flight = InFlight::of(context);
        let (mut completed, event) = in_flight.begin(&current, self.0.raw.addr())?;
        // Some of the work may be queued even if `work` fails or panics.
        let queued = catch_unwind(AssertUnwindSafe(|| work(&current, handle)));
        let kept = match current.record(&event, handle) {
            Ok(()) => in_flight.retain(self.0.raw.addr(), event, retained),
            Err(error) => match current.synchronize_stream(handle) {
                Ok(()) => {
                    completed.add(retained);
                    Ok(())
                }
                Err(_) => in_flight.retain_for_good(context, retained).and(Err(error)),
            },
        };
        let queued = queued.unwrap_or_else(|panic| resume_unwind(panic));
        kept.and(queued).map(|()| completed)
    }

    /// Fails while the stream is being captured into a graph.  The capture goes on, which a query of the stream,
    /// or a wait for it, would end.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// assert!(stream.refuse_capture().is_ok()); // no capture is under way
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` if the stream is being captured; driver errors.
    pub fn refuse_capture(&self) -> CudaResult<()> {
        self.context().enter()?.refuse_capture(self.handle())
    }

    /// A new event, without timing, at the end of what is queued so far.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let end = stream.record()?;
    /// end.synchronize()?;
    /// assert!(stream.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context is gone; driver errors, also of earlier work.
    pub fn record(&self) -> CudaResult<Event> {
        let event = Event::new(self.context())?;
        event.record(self)?;
        Ok(event)
    }

    /// Makes work that is queued from now on wait for an event of any context.  Does not block the
    /// caller.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    /// let end = first.record()?;
    /// second.wait_for(&end)?;
    /// second.synchronize()?;
    /// assert!(end.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the context of the stream or of the event is gone; other driver errors.
    pub fn wait_for(&self, event: &Event) -> CudaResult<()> {
        let current = self.context().enter()?;
        drop(event.context().enter()?);
        let stream = current.raw_stream(self.handle())?;
        // SAFETY: live handles.
        unsafe { call!(cuStreamWaitEvent(stream, event.as_raw(), 0)) }
    }

    /// Whether all work queued so far is complete.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// stream.record()?;
    /// stream.synchronize()?;
    /// assert!(stream.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn is_complete(&self) -> CudaResult<bool> {
        self.context().enter()?.is_stream_complete(self.handle())
    }
}

impl Event {
    /// Marks the end of the work queued on a stream so far, in place of an earlier mark.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (event, stream) = (Event::new(&context)?, Stream::new(&context)?);
    /// event.record(&stream)?;
    /// event.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for a stream of another context, or driver errors.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        if !self.context().is_same(stream.context()) {
            return Err(CudaError::of_call("cuEventRecord", codes::INVALID_HANDLE));
        }
        self.context().enter()?.record(self, stream.handle())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.owner.is_none() {
            // SAFETY: made here, and destroyed once.
            self.context.release("a stream", |_| unsafe { call!(cuStreamDestroy_v2(self.raw)) });
        }
    }
}
