//! Copies between the host and devices that are queued on a stream.  They return at once if the host
//! memory is pinned.

use super::StreamHandle;
use crate::Current;
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
}
