//! Calls on raw stream handles, which only [`Stream`](crate::Stream) holds, and captures of streams.

use crate::stored::stored;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query, report_failure};
use std::ffi::c_void;
use std::marker::PhantomData;

/// A `CUstream`, to be passed to other libraries.
pub type RawStream = *mut c_void;

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

    pub(crate) fn is_default(self) -> bool {
        self.raw.is_null()
    }
}

impl Current<'_> {
    /// The handle for the driver, which reads through it.  So a stream of another context, which may
    /// be gone with all its streams, is refused.
    pub(crate) fn raw_stream(&self, stream: StreamHandle<'_>) -> CudaResult<RawStream> {
        match stream.context {
            Some(context) if !context.is_same(self.context()) => {
                Err(CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE))
            }
            _ => Ok(stream.raw),
        }
    }

    /// The handle for the driver, after a wait for the small copies unless it is the default stream, on which they
    /// are.
    pub(crate) fn raw_stream_for_work(&self, stream: StreamHandle<'_>) -> CudaResult<RawStream> {
        if !stream.is_default() {
            self.context().await_small_copies()?;
        }
        self.raw_stream(stream)
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

    pub(crate) fn is_capturing(&self, stream: StreamHandle<'_>) -> CudaResult<bool> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: a live handle; stores a number.
        let status = stored(0i32, |at| unsafe { call!(cuStreamIsCapturing(stream, at)) })?;
        Ok(status != 0)
    }
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: i32 = 2;

/// Lets this thread make calls that captures of other streams forbid, until it is dropped.
///
/// While any thread captures a stream in the global mode, each call that might wait for the device
/// fails, and invalidates the capture.  The driver counts queries among them.
#[must_use = "captures are disregarded only while this lives"]
pub struct DisregardedCaptures {
    /// The thread's mode before; none if it could not be changed.
    previous: Option<i32>,
    /// The mode is the thread's.
    not_send: PhantomData<*const ()>,
}

impl Current<'_> {
    /// For calls that neither wait nor concern a stream that is captured.
    pub fn disregard_captures(&self) -> DisregardedCaptures {
        DisregardedCaptures { previous: exchange(RELAXED).ok(), not_send: PhantomData }
    }
}

/// Sets the thread's mode, and returns what it was.  Drivers before CUDA 10.1 have none.
fn exchange(mode: i32) -> CudaResult<i32> {
    // SAFETY: reads a number, and stores another.
    stored(mode, |at| unsafe { call!(cuThreadExchangeStreamCaptureMode(at)) })
}

impl Drop for DisregardedCaptures {
    fn drop(&mut self) {
        let Some(previous) = self.previous else { return };
        // A thread that stays relaxed would disregard the captures of its own calls.
        report_failure("the thread's capture mode", exchange(previous).map(drop));
    }
}
