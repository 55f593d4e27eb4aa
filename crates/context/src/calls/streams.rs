//! Calls on raw stream handles, which only [`Stream`](crate::Stream) holds, and captures of streams.

use crate::out_param::out_param;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query};
use std::ffi::c_void;

/// A `CUstream`, to be passed to other libraries.
///
/// ```
/// use arrow_cuda_context::{Context, RawStream, Stream};
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let raw: RawStream = stream.as_raw();
/// assert!(!raw.is_null()); // which is the default stream
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
pub type RawStream = *mut c_void;

/// The handle of a stream, borrowed from whoever owns it.
///
/// ```
/// use arrow_cuda_context::{Context, Stream, StreamHandle};
///
/// let context = Context::primary(0)?;
/// let (stream, current) = (Stream::new(&context)?, context.enter()?);
/// for handle in [StreamHandle::DEFAULT, stream.handle()] {
///     current.synchronize_stream(handle)?;
///     assert!(current.is_stream_complete(handle)?);
/// }
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StreamHandle<'stream> {
    raw: RawStream,
    /// The stream's context; none for the legacy default stream, which each context has.
    context: Option<&'stream Context>,
}

impl StreamHandle<'static> {
    /// The legacy default stream of the current context, which copies without a stream run on.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, StreamHandle};
    ///
    /// let context = Context::primary(0)?;
    /// let event = Event::new(&context)?;
    /// context.enter()?.record(&event, StreamHandle::DEFAULT)?;
    /// event.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
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

    pub(crate) fn is_default(self) -> bool {
        self.raw.is_null()
    }
}

impl Current<'_> {
    /// The handle for the driver, which reads through it.  So a stream of another context, which may
    /// be gone with all its streams, is refused.  So is the default stream where its use would end a capture.
    pub(crate) fn raw_stream(&self, stream: StreamHandle<'_>) -> CudaResult<RawStream> {
        match stream.context {
            Some(context) if !context.is_same(self.context()) => {
                return Err(CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE));
            }
            _ if stream.is_default() => self.check_default_stream()?,
            _ => {}
        }
        Ok(stream.raw)
    }

    /// The handle for the driver, after a wait for the small copies unless it is the default stream, on which they
    /// are.
    pub(crate) fn raw_stream_for_work(&self, stream: StreamHandle<'_>) -> CudaResult<RawStream> {
        if !stream.is_default() {
            self.context().await_deferred()?;
        }
        self.raw_stream(stream)
    }

    /// Blocks until a stream has completed all work queued so far.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (stream, current) = (Stream::new(&context)?, context.enter()?);
    /// let event = stream.record()?;
    /// current.synchronize_stream(stream.handle())?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn synchronize_stream(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle.
        unsafe { call!(cuStreamSynchronize(stream)) }
    }

    /// Whether a stream has completed all work queued so far.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (stream, current) = (Stream::new(&context)?, context.enter()?);
    /// stream.synchronize()?;
    /// assert!(current.is_stream_complete(stream.handle())?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn is_stream_complete(&self, stream: StreamHandle<'_>) -> CudaResult<bool> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle.
        unsafe { query!(cuStreamQuery(stream)) }
    }

    /// As [`Stream::refuse_capture`](crate::Stream::refuse_capture).
    pub(crate) fn refuse_capture(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        match self.is_capturing(stream)? {
            true => {
                Err(CudaError::of_call("cuStreamIsCapturing", codes::STREAM_CAPTURE_UNSUPPORTED))
            }
            false => Ok(()),
        }
    }

    pub(crate) fn is_capturing(&self, stream: StreamHandle<'_>) -> CudaResult<bool> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle; stores a number.
        let status = out_param(0i32, |at| unsafe { call!(cuStreamIsCapturing(stream, at)) })?;
        Ok(status != 0)
    }
}
