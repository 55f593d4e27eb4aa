//! Calls on events.

use super::StreamHandle;
use crate::{Current, Event};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query};
use std::ffi::c_void;

/// A `CUevent`.
pub(crate) type RawEvent = *mut c_void;

/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const DISABLE_TIMING: u32 = 2;

impl Current<'_> {
    /// The handle for the driver, which reads through it.  So an event of another context, which may be
    /// gone with all its events, is refused.
    fn raw_event(&self, event: &Event) -> CudaResult<RawEvent> {
        match event.context().is_same(self.context()) {
            true => Ok(event.as_raw()),
            false => Err(CudaError::of_call("cuEventQuery", codes::INVALID_HANDLE)),
        }
    }

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

    /// Like [`Event::record`], under a guard that the caller holds already.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for an event or a stream of another context, or driver errors.
    pub fn record(&self, event: &Event, stream: StreamHandle<'_>) -> CudaResult<()> {
        let (event, stream) = (self.raw_event(event)?, self.raw_stream(stream)?);
        // SAFETY: live handles.
        unsafe { call!(cuEventRecord(event, stream)) }
    }

    /// Records an event behind all work of the context, on all streams, those of other libraries
    /// included.
    pub(crate) fn record_on_all_streams(&self, event: &Event) -> CudaResult<()> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle; the context is alive.
        unsafe { call!(cuCtxRecordEvent(self.context().raw(), event)) }
    }

    /// Like [`Event::is_complete`], under a guard that the caller holds already.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for an event of another context, or driver errors.
    pub fn is_reached(&self, event: &Event) -> CudaResult<bool> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle.
        unsafe { query!(cuEventQuery(event)) }
    }

    pub(crate) fn synchronize_event(&self, event: &Event) -> CudaResult<()> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle.
        unsafe { call!(cuEventSynchronize(event)) }
    }

    pub(crate) fn elapsed(&self, start: &Event, end: &Event) -> CudaResult<f32> {
        let (start, end) = (self.raw_event(start)?, self.raw_event(end)?);
        let mut milliseconds = 0f32;
        // SAFETY: live handles, and a place that outlives the call.
        unsafe { call!(cuEventElapsedTime((&raw mut milliseconds).cast(), start, end)) }?;
        Ok(milliseconds)
    }
}
