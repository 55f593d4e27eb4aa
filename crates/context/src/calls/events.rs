//! Calls on events.

use super::StreamHandle;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, call, codes, query};
use std::ffi::c_void;

/// A `CUevent`.
pub(crate) type RawEvent = *mut c_void;

/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const DISABLE_TIMING: u32 = 2;

/// The handle of an event, borrowed from whoever owns it.
#[derive(Clone, Copy)]
pub(crate) struct EventHandle<'event> {
    raw: RawEvent,
    context: &'event Context,
}

impl<'event> EventHandle<'event> {
    /// # Safety
    ///
    /// The handle must be that of an event of the context, which lives as long as the result unless
    /// its context is destroyed.
    pub(crate) unsafe fn new(raw: RawEvent, context: &'event Context) -> Self {
        Self { raw, context }
    }
}

impl Current<'_> {
    /// The handle for the driver, which reads through it.  So an event of another context, which may be
    /// gone with all its events, is refused.
    fn raw_event(&self, event: EventHandle<'_>) -> CudaResult<RawEvent> {
        match event.context.is_same(self.context()) {
            true => Ok(event.raw),
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

    pub(crate) fn record_event(
        &self,
        event: EventHandle<'_>,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let (event, stream) = (self.raw_event(event)?, self.raw_stream(stream)?);
        // SAFETY: live handles.
        unsafe { call!(cuEventRecord(event, stream)) }
    }

    /// Records an event behind all work of the context, on all streams, those of other libraries
    /// included.
    pub(crate) fn record_on_all_streams(&self, event: EventHandle<'_>) -> CudaResult<()> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle; the context is alive.
        unsafe { call!(cuCtxRecordEvent(self.context().raw(), event)) }
    }

    pub(crate) fn is_event_complete(&self, event: EventHandle<'_>) -> CudaResult<bool> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle.
        unsafe { query!(cuEventQuery(event)) }
    }

    pub(crate) fn synchronize_event(&self, event: EventHandle<'_>) -> CudaResult<()> {
        let event = self.raw_event(event)?;
        // SAFETY: a live handle.
        unsafe { call!(cuEventSynchronize(event)) }
    }

    /// Makes work that is queued on a stream from now on wait for an event of any context.
    pub(crate) fn wait_for_event(
        &self,
        stream: StreamHandle<'_>,
        event: EventHandle<'_>,
    ) -> CudaResult<()> {
        drop(event.context.enter()?);
        let stream = self.raw_stream(stream)?;
        // SAFETY: live handles.
        unsafe { call!(cuStreamWaitEvent(stream, event.raw, 0)) }
    }

    pub(crate) fn elapsed(&self, start: EventHandle<'_>, end: EventHandle<'_>) -> CudaResult<f32> {
        let (start, end) = (self.raw_event(start)?, self.raw_event(end)?);
        let mut milliseconds = 0f32;
        // SAFETY: live handles, and a place that outlives the call.
        unsafe { call!(cuEventElapsedTime((&raw mut milliseconds).cast(), start, end)) }?;
        Ok(milliseconds)
    }
}
