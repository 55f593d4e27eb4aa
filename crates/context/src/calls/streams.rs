//! Calls on raw stream handles, which only [`Stream`](crate::Stream) holds.

use crate::{Context, Current, Event, Stream};
use arrow_cuda_driver::{CudaError, CudaResult, Patience, call, codes, query};
use std::ffi::c_void;

/// A `CUstream`, to be passed to other libraries.
pub type RawStream = *mut c_void;

/// `CU_STREAM_NON_BLOCKING`: not ordered with the legacy default stream.
pub(crate) const NON_BLOCKING: u32 = 1;

/// The handle of a stream, borrowed from whoever owns it.
#[derive(Clone, Copy, Debug)]
pub struct StreamHandle<'stream> {
    raw: RawStream,
    /// The stream's context; none for the legacy default stream, which each context has.
    context: Option<&'stream Context>,
}

impl StreamHandle<'static> {
    /// The legacy default stream of the current context, which copies without a stream run on.
    pub const DEFAULT: Self = Self { raw: std::ptr::null_mut(), context: None };
}

impl<'stream> StreamHandle<'stream> {
    /// # Safety
    ///
    /// The handle must be that of a stream of the context, which lives as long as the result unless
    /// its context is destroyed.
    pub(crate) unsafe fn new(raw: RawStream, context: &'stream Context) -> Self {
        Self { raw, context: Some(context) }
    }
}

impl Context {
    /// Blocks until the device has completed everything that was queued in the context.
    ///
    /// A signal may end the wait for the legacy default stream and those that are ordered with it; what
    /// only other streams have to do is waited for to its end.
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context is gone.
    pub fn synchronize(&self) -> CudaResult<()> {
        // An event behind all streams would end graph captures of other threads.
        let (current, _) = self.enter()?.await_long_work(StreamHandle::DEFAULT)?;
        current.synchronize()
    }
}

impl Current<'_> {
    /// The handle for the driver, which reads through it.  So a stream of another context, which may
    /// be gone with all its streams, is refused.
    pub(super) fn raw_stream(&self, stream: StreamHandle<'_>) -> CudaResult<RawStream> {
        match stream.context {
            Some(context) if !context.is_same(self.context()) => {
                Err(CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE))
            }
            _ => Ok(stream.raw),
        }
    }

    /// The stream that this thread uses in place of the default stream, if `stream` is that.
    pub(crate) fn in_place_of(&self, stream: StreamHandle<'_>) -> Option<Stream> {
        if stream.raw.is_null() { Stream::current(self.context()) } else { None }
    }

    pub(crate) fn create_stream(&self, flags: u32, priority: i32) -> CudaResult<RawStream> {
        let mut stream: RawStream = std::ptr::null_mut();
        let place = (&raw mut stream).cast();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe {
            match priority {
                0 => call!(cuStreamCreate(place, flags)),
                priority => call!(cuStreamCreateWithPriority(place, flags, priority)),
            }
        }?;
        Ok(stream)
    }

    pub(crate) fn stream_priority(&self, stream: StreamHandle<'_>) -> CudaResult<i32> {
        let stream = self.raw_stream(stream)?;
        let mut priority = 0i32;
        // SAFETY: a live handle, and a place that outlives the call.
        unsafe { call!(cuStreamGetPriority(stream, (&raw mut priority).cast())) }?;
        Ok(priority)
    }

    /// The least and the greatest priority that streams can have.
    pub(crate) fn stream_priorities(&self) -> CudaResult<(i32, i32)> {
        let (mut least, mut greatest) = (0i32, 0i32);
        let places = ((&raw mut least).cast(), (&raw mut greatest).cast());
        // SAFETY: stores two numbers through the pointers, which outlive the call.
        unsafe { call!(cuCtxGetStreamPriorityRange(places.0, places.1)) }?;
        Ok((least, greatest))
    }

    /// # Safety
    ///
    /// The handle must be live and the caller's to destroy.
    pub(crate) unsafe fn destroy_stream(&self, stream: RawStream) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuStreamDestroy_v2(stream)) }
    }

    /// Blocks until a stream has completed all work queued so far.
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn synchronize_stream(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle.
        unsafe { call!(cuStreamSynchronize(stream)) }
    }

    /// Waits for a stream, or for the one that this thread uses in place of it as well, before a copy that
    /// waits for it, too: while the driver's synchronous copies
    /// wait, no other thread can allocate, record events or queue copies in the context.  If the wait takes
    /// long, and signals may end copies, the copy does not begin.
    ///
    /// # Errors
    ///
    /// [`CudaError::Busy`]; driver errors, including those of the stream's work.
    pub fn await_turn(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        self.await_stream_in_place_of(stream)?;
        let is_complete = || !matches!(self.is_stream_complete(stream), Ok(false));
        if is_complete() || Patience::new().await_turn(is_complete)? {
            return Ok(());
        }
        self.synchronize_stream(stream)
    }

    /// Waits for the stream that this thread uses in place of the default stream, if `stream` is that, as
    /// [`await_turn`](Self::await_turn) does.  Nothing that follows would wait for it, whatever the driver
    /// says when it is asked.
    pub(super) fn await_stream_in_place_of(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        let Some(stream) = self.in_place_of(stream) else { return Ok(()) };
        let ask = || self.is_stream_complete(stream.handle());
        if ask() == Ok(true) {
            return Ok(());
        }
        Patience::new().await_turn(|| ask() != Ok(false))?;
        self.synchronize_stream(stream.handle())
    }

    /// Waits for a copy that was queued on a stream.  If that takes long, and signals may end copies, it
    /// stays queued.
    ///
    /// # Errors
    ///
    /// [`CudaError::Interrupted`]; driver errors, including those of the stream's work.
    pub(crate) fn await_end(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        let mut answer = Ok(false);
        let is_over = || {
            answer = self.is_stream_complete(stream);
            answer != Ok(false)
        };
        match Patience::new().await_end(is_over)? {
            true => answer.map(drop),
            false => self.synchronize_stream(stream),
        }
    }

    /// Whether a stream has completed all work queued so far.
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn is_stream_complete(&self, stream: StreamHandle<'_>) -> CudaResult<bool> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle.
        unsafe { query!(cuStreamQuery(stream)) }
    }

    /// Makes work that is queued on a stream from now on wait for an event of any context.
    pub(crate) fn wait_for_event(&self, stream: StreamHandle<'_>, event: &Event) -> CudaResult<()> {
        drop(event.context().enter()?);
        let stream = self.raw_stream(stream)?;
        // SAFETY: live handles.
        unsafe { call!(cuStreamWaitEvent(stream, event.as_raw(), 0)) }
    }

    /// Whether a stream is capturing its work into a graph.
    pub(crate) fn is_capturing(&self, stream: StreamHandle<'_>) -> CudaResult<bool> {
        let mut status = 0i32;
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle, and a place that outlives the call.
        unsafe { call!(cuStreamIsCapturing(stream, (&raw mut status).cast())) }?;
        Ok(status != 0)
    }
}

/// The handle of the context that a stream belongs to.
///
/// # Safety
///
/// The handle must be live: the driver reads through it.
pub(crate) unsafe fn context_of_stream(stream: RawStream) -> CudaResult<usize> {
    let mut context: *mut c_void = std::ptr::null_mut();
    // SAFETY: guaranteed by the caller; stores a handle through the pointer.
    unsafe { call!(cuStreamGetCtx(stream, (&raw mut context).cast())) }?;
    Ok(context.addr())
}
