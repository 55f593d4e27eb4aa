//! Device memory: its allocation, fills and copies that are queued on a stream, and how several processes
//! use it.

use super::StreamHandle;
use crate::out_param::out_param;
use crate::{Context, Current, Unused};
use arrow_cuda_driver::{CudaResult, IpcHandle, call};

impl Context {
    /// How much of the device's memory is free for any process, in bytes.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// assert!(context.free_memory()? <= context.total_memory()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
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
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.allocate_memory(100)?;
    /// assert_eq!(current.allocation_at(address + 99)?.0, address);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY`, with `size` in it, when the device has no room.
    pub fn allocate_memory(&self, size: u64) -> CudaResult<u64> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        // SAFETY: stores an address.
        out_param(0u64, |at| unsafe { call!(cuMemAlloc_v2(at, bytes)) })
            .map_err(|error| error.while_allocating(size))
    }

    /// Releases memory of [`allocate_memory`](Self::allocate_memory).  The driver waits for the device of the memory,
    /// and for no other.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.allocate_memory(100)?;
    /// let unused = context.await_users()?;
    /// // SAFETY: allocated above, and released once.
    /// unsafe { current.release_memory(address, &unused) }?;
    /// assert!(current.allocation_at(address).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for an address that is no allocation; driver errors, also of earlier work.
    ///
    /// # Safety
    ///
    /// The address must be the caller's to release, once.
    #[doc(hidden)]
    pub unsafe fn release_memory(&self, address: u64, _unused: &Unused) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemFree_v2(address)) }
    }

    /// Queues a fill: the stream sets every byte of a range to `value`.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, stream) = (Block::allocate(&context, 4, Placement::Packed)?, Stream::new(&context)?);
    /// let (current, mut out) = (context.enter()?, [0; 4]);
    /// // SAFETY: the block lives until the stream is done, and nobody else uses it.
    /// unsafe { current.queue_fill(block.private_address(), 7, 4, stream.handle()) }?;
    /// stream.synchronize()?;
    /// // SAFETY: live ranges of 4 bytes.
    /// unsafe { current.copy_to_host(out.as_mut_ptr(), block.private_address(), 4) }?;
    /// assert_eq!(out, [7; 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, of a stream that is gone, and of earlier work.
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
        let stream = self.raw_stream_for_work(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemsetD8Async(address, value, size, stream)) }
    }

    /// How much of the device's memory is free for any process, in bytes.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// assert!(context.enter()?.free_memory()? <= context.total_memory()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn free_memory(&self) -> CudaResult<u64> {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: stores two sizes through the pointers, which outlive the call.
        unsafe { call!(cuMemGetInfo_v2((&raw mut free).cast(), (&raw mut total).cast())) }?;
        Ok(free as u64)
    }

    /// Queues a copy of device memory to the host.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, stream) = (Block::allocate(&context, 4, Placement::Packed)?, Stream::new(&context)?);
    /// let (current, address, mut out) = (context.enter()?, block.private_address(), [0; 4]);
    /// // SAFETY: both ranges live until the stream is done, and nobody else uses them.
    /// unsafe {
    ///     current.copy_from_host(address, [1, 2, 3, 4].as_ptr(), 4)?;
    ///     current.queue_copy_to_host(out.as_mut_ptr(), address, 4, stream.handle())?;
    /// }
    /// stream.synchronize()?;
    /// assert_eq!(out, [1, 2, 3, 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, of a stream that is gone, and of earlier work.
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
        let stream = self.raw_stream_for_work(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemcpyDtoHAsync_v2(out.cast(), from, size, stream)) }
    }

    /// Queues a copy of host memory to the device.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, stream) = (Block::allocate(&context, 4, Placement::Packed)?, Stream::new(&context)?);
    /// let (current, address) = (context.enter()?, block.private_address());
    /// let (data, mut out) = ([1, 2, 3, 4], [0; 4]);
    /// // SAFETY: both ranges live until the stream is done, and nobody else uses them.
    /// unsafe { current.queue_copy_from_host(address, data.as_ptr(), 4, stream.handle()) }?;
    /// stream.synchronize()?;
    /// // SAFETY: live ranges of 4 bytes.
    /// unsafe { current.copy_to_host(out.as_mut_ptr(), address, 4) }?;
    /// assert_eq!(out, data);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, of a stream that is gone, and of earlier work.
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
        let stream = self.raw_stream_for_work(stream)?;
        // SAFETY: guaranteed by the caller; the driver only reads the data.
        unsafe { call!(cuMemcpyHtoDAsync_v2(to, data.cast_mut().cast(), size, stream)) }
    }
}

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag there is.
const LAZY_ENABLE_PEER_ACCESS: u32 = 1;

impl Current<'_> {
    /// The driver's IPC handle of the allocation that contains an address.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.allocate_memory(100)?;
    /// let handle = current.export_memory(address)?; // to be sent to another process
    /// assert_ne!(handle, [0; 64]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, for memory that cannot be shared.
    pub fn export_memory(&self, address: u64) -> CudaResult<[u8; 64]> {
        // SAFETY: stores 64 bytes; the address is looked up, not read.
        out_param([0u8; 64], |at| unsafe { call!(cuIpcGetMemHandle(at, address)) })
    }

    /// Maps an allocation that another process has exported, and returns its address in this
    /// process.
    ///
    /// ```no_run
    /// use arrow_cuda_context::Context;
    ///
    /// # let handle = [0; 64];
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.open_memory(handle)?; // the handle comes from another process
    /// let mut out = [0; 4];
    /// // SAFETY: the mapping is live, and has 4 bytes.
    /// unsafe { current.copy_to_host(out.as_mut_ptr(), address, 4) }?;
    /// assert_eq!(out, [1, 2, 3, 4]); // as that process has written them
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors; error 201 for a handle that this process has exported itself.
    pub fn open_memory(&self, handle: [u8; 64]) -> CudaResult<u64> {
        let (handle, flags) = (IpcHandle(handle), LAZY_ENABLE_PEER_ACCESS);
        // SAFETY: stores an address; the driver checks the handle.
        out_param(0u64, |at| unsafe { call!(cuIpcOpenMemHandle_v2(at, handle, flags)) })
    }

    /// Unmaps memory that [`open_memory`](Self::open_memory) has mapped.
    ///
    /// ```no_run
    /// use arrow_cuda_context::Context;
    ///
    /// # let handle = [0; 64];
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.open_memory(handle)?; // the handle comes from another process
    /// let unused = context.await_users()?;
    /// // SAFETY: it was mapped above, and is closed once.
    /// unsafe { current.close_memory(address, &unused) }?;
    /// assert!(current.allocation_at(address).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for an address that is no mapping; other driver errors.
    ///
    /// # Safety
    ///
    /// The mapping must be the caller's to close, once.
    #[doc(hidden)]
    pub unsafe fn close_memory(&self, address: u64, _unused: &Unused) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuIpcCloseMemHandle(address)) }
    }
}
