//! Calls on raw stream handles, which only [`Stream`](crate::Stream) holds.

use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query};
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

    /// Whether it is the legacy default stream of a context.
    pub(crate) fn is_default(self) -> bool {
        self.raw.is_null()
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
