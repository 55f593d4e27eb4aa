//! Streams: queues of work on a device.

use crate::codes::{CAPTURE_UNSUPPORTED, INVALID_HANDLE, NON_BLOCKING};
use crate::sync::{DEFAULT_STREAM, is_done};
use crate::{Context, Event, Finished, Kept, RawStream, finished, in_flight, is_readable};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, call, may_release};
use std::ffi::c_void;
use std::sync::Arc;

/// Handles up to this one name default streams: of nobody, the legacy one, and the thread's own.
const LAST_DEFAULT: usize = 2;

/// A queue of work that a device does in order, beside that of other streams.
///
/// A clone is the same stream.  When the last one goes, the driver's stream is given up; what is
/// queued is done all the same, and what it needs is kept until then ([`enqueue`](Self::enqueue)).
///
/// ```
/// use arrow_cuda_context::{Context, Stream};
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let event = stream.record()?;
/// stream.synchronize()?;
/// assert!(event.is_done()? && stream.is_done()?);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Arc<State>);

#[derive(Debug)]
struct State {
    context: Context,
    raw: RawStream,
    owner: Owner,
}

enum Owner {
    Ours,
    /// The context's.
    Default,
    Foreign {
        _owner: Kept,
    },
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ours => "Ours",
            Self::Default => "Default",
            Self::Foreign { .. } => "Foreign",
        })
    }
}

// SAFETY: the driver's streams may be used by any thread.
unsafe impl Send for State {}
// SAFETY: and by several at a time.
unsafe impl Sync for State {}

impl Stream {
    /// A stream that is ordered with the legacy default stream: each begins work only when what was
    /// queued in the other before is done.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, 0)
    }

    /// A stream that is independent of the legacy default stream, and so of copies without a
    /// stream.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn non_blocking(context: &Context) -> CudaResult<Self> {
        Self::with_flags(context, NON_BLOCKING)
    }

    fn with_flags(context: &Context, flags: u32) -> CudaResult<Self> {
        let _current = context.enter_unless_gone()?;
        let raw = context.create_stream(flags)?;
        Ok(Self::of(context, raw, Owner::Ours))
    }

    /// The legacy default stream of a context.
    pub fn default_of(context: &Context) -> Self {
        Self::of(context, DEFAULT_STREAM, Owner::Default)
    }

    /// A stream of another library, which belongs to one of `contexts`; none if it does not.  The
    /// handles of the default streams (0, 1 and 2) stand for those of the first one.
    ///
    /// The driver reads through the handle.  What is not even readable memory is found out here.
    ///
    /// # Safety
    ///
    /// The handle must be that of a stream, or a default stream's, which lives as long as `owner`.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for what cannot be a stream, or the driver's.
    pub unsafe fn borrowed(
        contexts: &[&Context],
        raw: RawStream,
        owner: Kept,
    ) -> CudaResult<Option<Self>> {
        if raw.addr() <= LAST_DEFAULT {
            let first = contexts.first();
            return Ok(first.map(|context| Self::of(context, raw, Owner::Default)));
        }
        if !is_readable(raw.addr()) {
            return Err(CudaError::of_call("cuStreamGetCtx", INVALID_HANDLE));
        }
        let mut handle: *mut c_void = std::ptr::null_mut();
        // SAFETY: the caller's promise; stores a handle through the pointer.
        unsafe { call!(cuStreamGetCtx(raw, (&raw mut handle).cast())) }?;
        let found = contexts.iter().find(|context| context.handle() == handle.addr());
        Ok(found.map(|context| Self::of(context, raw, Owner::Foreign { _owner: owner })))
    }

    fn of(context: &Context, raw: RawStream, owner: Owner) -> Self {
        Self(Arc::new(State { context: context.clone(), raw, owner }))
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The `CUstream` handle, valid as long as this or a clone lives.
    pub fn raw(&self) -> RawStream {
        self.0.raw
    }

    /// Queues work, and keeps `kept` until it is over, whatever becomes of the stream.
    ///
    /// `work` is called at once, with the stream's handle and the context current, and is to queue
    /// and return.  The result is what was kept for earlier work that is over by now.
    ///
    /// # Errors
    ///
    /// Those of `work`; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` where the stream is being captured
    /// into a graph, which would use what is kept at any later time; the driver's.
    pub fn enqueue(
        &self,
        kept: Kept,
        work: impl FnOnce(RawStream) -> CudaResult<()>,
    ) -> CudaResult<Finished> {
        let (context, raw) = (self.context(), self.raw());
        let _current = context.enter_unless_gone()?;
        self.check_not_captured()?;
        let (mut finished, event) = in_flight::begin(context)?;
        let queued = work(raw);
        // Some of it may be queued also when it failed.
        // SAFETY: live handles of the current context.
        match unsafe { context.record_event(event.raw(), raw) } {
            Ok(()) => in_flight::keep(raw, event, kept),
            // SAFETY: a live handle.
            Err(error) => match unsafe { context.synchronize_stream(raw) } {
                Ok(()) => finished.add(kept),
                Err(_) => {
                    in_flight::keep_for_good(context, kept);
                    return Err(error);
                }
            },
        }
        queued.map(|()| finished)
    }

    fn check_not_captured(&self) -> CudaResult<()> {
        let mut status = 0i32;
        // SAFETY: a live handle, and a place that outlives the call.
        unsafe { call!(cuStreamIsCapturing(self.raw(), (&raw mut status).cast())) }?;
        match status {
            0 => Ok(()),
            _ => Err(CudaError::of_call("cuStreamIsCapturing", CAPTURE_UNSUPPORTED)),
        }
    }

    /// A new event, without timing, at the end of what is queued so far.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn record(&self) -> CudaResult<Event> {
        let event = Event::new(self.context())?;
        event.record(self)?;
        Ok(event)
    }

    /// Holds work that is queued from now on back until an event, of any context, is done.  Does
    /// not block the caller.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn wait_for(&self, event: &Event) -> CudaResult<()> {
        drop(event.context().enter_unless_gone()?);
        let _current = self.context().enter_unless_gone()?;
        // SAFETY: both live as long as their owners.
        unsafe { self.context().stream_wait_event(self.raw(), event.raw()) }
    }

    /// Blocks until what is queued so far is done, and hands out what was kept for such work.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub fn synchronize(&self) -> CudaResult<Finished> {
        let _current = self.context().enter_unless_gone()?;
        // SAFETY: the handle lives as long as this.
        unsafe { self.context().synchronize_stream(self.raw()) }?;
        Ok(finished())
    }

    /// Whether all that is queued so far is done.
    ///
    /// # Errors
    ///
    /// The driver's, also those of the work.
    pub fn is_done(&self) -> CudaResult<bool> {
        let _current = self.context().enter_unless_gone()?;
        // SAFETY: the handle lives as long as this.
        is_done(unsafe { call!(cuStreamQuery(self.raw())) })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if matches!(self.owner, Owner::Ours) && may_release() {
            blocking(|| {
                // A stream goes with its context, and the driver crashes on its handle then.
                if !self.context.is_gone() {
                    // SAFETY: made here, and given up once.
                    unsafe { self.context.destroy_stream(self.raw) };
                }
            });
        }
    }
}
