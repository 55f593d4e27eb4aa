//! Copies between the host and devices, and between devices, that are queued on a stream.  They return
//! at once if the host memory is pinned.

use super::StreamHandle;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, call};

impl Current<'_> {
    /// Queues a copy of device memory to the host.
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and nobody else may use `out`, until the stream has made the copy.
    pub unsafe fn queue_copy_to_host(
        &self,
        out: *mut u8,
        from: u64,
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemcpyDtoHAsync_v2(out.cast(), from, size, stream)) }
    }

    /// Queues a copy of host memory to the device.
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and nobody may change `data`, until the stream has made the copy.
    pub unsafe fn queue_copy_from_host(
        &self,
        to: u64,
        data: *const u8,
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller; the driver only reads the data.
        unsafe { call!(cuMemcpyHtoDAsync_v2(to, data.cast_mut().cast(), size, stream)) }
    }

    /// Queues a copy within the memory of the context's device.
    ///
    /// # Safety
    ///
    /// Both ranges must be live until the stream has made the copy, and must not overlap.
    pub(crate) unsafe fn queue_copy_within_device(
        &self,
        to: u64,
        from: u64,
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemcpyDtoDAsync_v2(to, from, size, stream)) }
    }

    /// Queues a copy from one context's device to another's, on a stream of the current context.
    ///
    /// # Safety
    ///
    /// Both ranges must be live until the stream has made the copy, and neither context may be
    /// destroyed before.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_INVALID_CONTEXT` where a context is gone.
    pub(crate) unsafe fn queue_copy_to_peer(
        &self,
        (to, target): (u64, &Context),
        (from, source): (u64, &Context),
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        drop((target.enter()?, source.enter()?));
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller; both contexts are alive.
        unsafe { call!(cuMemcpyPeerAsync(to, target.raw(), from, source.raw(), size, stream)) }
    }
}
