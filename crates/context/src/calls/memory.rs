//! Device memory.

use super::StreamHandle;
use crate::stored::stored;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, call};

impl Context {
    /// How much of the device's memory is free for any process, in bytes.
    ///
    /// # Errors
    ///
    /// When the context is gone, or the driver cannot tell.
    pub fn free_memory(&self) -> CudaResult<u64> {
        self.enter()?.free_memory()
    }
}

impl Current<'_> {
    /// Allocates uninitialised device memory and returns its address.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY`, with `size` in it, when the device has no room.
    pub fn allocate_memory(&self, size: u64) -> CudaResult<u64> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let _disregarded = self.disregard_captures();
        // SAFETY: stores an address.
        stored(0u64, |at| unsafe { call!(cuMemAlloc_v2(at, bytes)) })
            .map_err(|error| error.while_allocating(size))
    }

    /// Releases memory of [`allocate_memory`](Self::allocate_memory), once the device has completed
    /// all its work.
    ///
    /// # Safety
    ///
    /// The address must be the caller's to release, once.
    pub unsafe fn release_memory(&self, address: u64) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemFree_v2(address)) }
    }

    /// Queues a fill: the stream sets every byte of a range to `value`.
    ///
    /// # Safety
    ///
    /// The range must be live, and the caller's to write, until the stream has done so.
    pub unsafe fn queue_fill(
        &self,
        address: u64,
        value: u8,
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemsetD8Async(address, value, size, stream)) }
    }

    /// How much of the device's memory is free for any process, in bytes.
    pub fn free_memory(&self) -> CudaResult<u64> {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: stores two sizes through the pointers, which outlive the call.
        unsafe { call!(cuMemGetInfo_v2((&raw mut free).cast(), (&raw mut total).cast())) }?;
        Ok(free as u64)
    }
}
