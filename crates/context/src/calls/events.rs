//! Calls on raw event handles, which only [`Event`](crate::Event) and the ledger's fences hold.

use super::StreamHandle;
use crate::Current;
use arrow_cuda_driver::{CudaResult, call, query};
use std::ffi::c_void;

/// A `CUevent`.
pub(crate) type RawEvent = *mut c_void;

/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const DISABLE_TIMING: u32 = 2;

impl Current<'_> {
    pub(crate) fn create_event(&self, flags: u32) -> CudaResult<RawEvent> {
        let mut event: RawEvent = std::ptr::null_mut();
        // SAFETY: stores a handle through the pointer, which outlives the call.
        unsafe { call!(cuEventCreate((&raw mut event).cast(), flags)) }?;
        Ok(event)
    }

    /// # Safety
    ///
    /// The handle must be live and the caller's to destroy.
    pub(crate) unsafe fn destroy_event(&self, event: RawEvent) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuEventDestroy_v2(event)) }
    }

    /// # Safety
    ///
    /// The handle must be live.
    pub(crate) unsafe fn record_event(
        &self,
        event: RawEvent,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuEventRecord(event, stream)) }
    }

    /// Records all work of the context on all streams, including those of other libraries.
    ///
    /// # Safety
    ///
    /// The handle must be live.
    pub(crate) unsafe fn record_event_on_all_streams(&self, event: RawEvent) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller; the context is alive.
        unsafe { call!(cuCtxRecordEvent(self.context().raw(), event)) }
    }

    /// # Safety
    ///
    /// The handle must be live.
    pub(crate) unsafe fn is_event_complete(&self, event: RawEvent) -> CudaResult<bool> {
        // SAFETY: guaranteed by the caller.
        unsafe { query!(cuEventQuery(event)) }
    }

    /// # Safety
    ///
    /// The handle must be live.
    pub(crate) unsafe fn synchronize_event(&self, event: RawEvent) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuEventSynchronize(event)) }
    }

    /// # Safety
    ///
    /// Both handles must be live.
    pub(crate) unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> CudaResult<f32> {
        let mut milliseconds = 0f32;
        // SAFETY: guaranteed by the caller, and a place that outlives the call.
        unsafe { call!(cuEventElapsedTime((&raw mut milliseconds).cast(), start, end)) }?;
        Ok(milliseconds)
    }
}
