//! Events and streams, as raw handles that libarrow's own classes own.

use crate::Context;
use arrow_cuda_driver::{CudaResult, call, may_release, report_failure};
use std::ffi::c_void;

/// A `CUevent`.
pub type RawEvent = *mut c_void;
/// A `CUstream`.  Null is the legacy default stream.
pub type RawStream = *mut c_void;

const DISABLE_TIMING: u32 = 2;

impl Context {
    /// Makes an event, without timing.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn create_event(&self) -> CudaResult<RawEvent> {
        let _current = self.enter()?;
        let mut event: RawEvent = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuEventCreate((&raw mut event).cast(), DISABLE_TIMING)) }?;
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

    /// Gives an event up.
    ///
    /// # Safety
    ///
    /// The handle must be live, and is not any more.
    pub unsafe fn destroy_event(&self, event: RawEvent) {
        if may_release() {
            // SAFETY: the caller's promise.
            report_failure("an event", unsafe { call!(cuEventDestroy_v2(event)) });
        }
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
