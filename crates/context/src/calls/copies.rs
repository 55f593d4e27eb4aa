//! Copies between the host and devices, and between devices.
//!
//! Copies without a stream are ordered as the legacy default stream is, and are complete when they
//! return; all but small ones to the device are not begun before their turn.  Copies that are queued
//! on a stream return at once if the host memory is pinned.

use super::StreamHandle;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, call};
use std::mem::MaybeUninit;
use std::ptr;

/// Up to this size in bytes, it takes less time to copy data on the host than to ask the driver a question.
/// Drivers stage four times as much.
const STAGED: usize = 16 << 10;

impl Current<'_> {
    /// Copies device memory to the host.
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and `out` must be the caller's to write.
    pub unsafe fn copy_to_host(&self, out: *mut u8, from: u64, size: usize) -> CudaResult<()> {
        self.await_turn(StreamHandle::DEFAULT)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemcpyDtoH_v2(out.cast(), from, size)) }
    }

    /// Copies host memory to the device.
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and `to` must be the caller's to write.
    pub unsafe fn copy_from_host(&self, to: u64, data: *const u8, size: usize) -> CudaResult<()> {
        if size <= STAGED {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.copy_staged(to, data, size) };
        }
        self.await_turn(StreamHandle::DEFAULT)?;
        // This avoids the driver's synchronous call, which waits as well, but from pageable memory
        // only until the driver has the data.  Waiting once, for the device, takes less time.
        // SAFETY: guaranteed by the caller.
        let begun = unsafe { self.queue_copy_from_host(to, data, size, StreamHandle::DEFAULT) };
        // This waits even after a failure: nobody may read the data once this returns.
        begun.and(self.synchronize_stream(StreamHandle::DEFAULT))
    }

    /// Copies a few bytes.  The driver needs no turn to stage pageable memory, so to ask first whether the
    /// stream is busy would only take time.
    ///
    /// # Safety
    ///
    /// As for [`copy_from_host`](Self::copy_from_host).
    unsafe fn copy_staged(&self, to: u64, data: *const u8, size: usize) -> CudaResult<()> {
        self.await_stream_in_place_of(StreamHandle::DEFAULT)?;
        // The data itself may be pinned, and would be read in its turn.
        let mut staged = [MaybeUninit::<u8>::uninit(); STAGED];
        // SAFETY: guaranteed by the caller; there is room for so much.
        unsafe { ptr::copy_nonoverlapping(data, staged.as_mut_ptr().cast(), size) };
        // SAFETY: guaranteed by the caller; the driver has read what is pageable when the call returns.
        let begun = unsafe {
            self.queue_copy_from_host(to, staged.as_ptr().cast(), size, StreamHandle::DEFAULT)
        };
        begun.and(self.await_end(StreamHandle::DEFAULT))
    }

    /// Copies within the memory of the context's device.
    ///
    /// # Safety
    ///
    /// Both ranges must be live and must not overlap; `to` must be the caller's to write.
    pub(crate) unsafe fn copy_within_device(
        &self,
        to: u64,
        from: u64,
        size: usize,
    ) -> CudaResult<()> {
        self.await_turn(StreamHandle::DEFAULT)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemcpyDtoD_v2(to, from, size)) }?;
        // The driver only queues such a copy, so this waits for its end.
        self.synchronize_stream(StreamHandle::DEFAULT)
    }

    /// Copies from this context's device to another's.
    ///
    /// # Safety
    ///
    /// As for [`copy_within_device`](Self::copy_within_device), and `target` must not be destroyed
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_INVALID_CONTEXT` where `target` is gone.
    pub(crate) unsafe fn copy_to_peer(
        &self,
        to: u64,
        target: &Context,
        from: u64,
        size: usize,
    ) -> CudaResult<()> {
        self.await_turn(StreamHandle::DEFAULT)?;
        drop(target.enter()?);
        // SAFETY: guaranteed by the caller; both contexts are alive.
        unsafe { call!(cuMemcpyPeer(to, target.raw(), from, self.context().raw(), size)) }?;
        self.synchronize_stream(StreamHandle::DEFAULT).inspect_err(|_| {
            // The target's device does not wait for work of this one when it releases the memory, so
            // none may be left.  If this fails too, the context executes nothing any more.
            let _waited = self.synchronize();
        })
    }

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
