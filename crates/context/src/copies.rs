//! Copies between the host and a device, and fills, without a stream.
//!
//! They are ordered as the legacy default stream is, and are complete when they return.  A copy begins when that
//! stream has no work left, except for small copies to the device.

use crate::{Current, StreamHandle};
use arrow_cuda_driver::{CudaResult, Patience, call, codes};
use std::mem::MaybeUninit;
use std::ptr;

/// Up to this size in bytes, it takes less time to copy data on the host than to ask the driver a question.
/// The driver itself stages up to 64 KiB.
pub(crate) const STAGED: usize = 16 << 10;

impl Current<'_> {
    /// Waits for a stream before a copy, and for the stream that this thread uses in place of it.  While a synchronous
    /// copy of the driver waits, no other thread can allocate, record events or queue copies in the context.  If
    /// the wait takes long, and signals may end copies, the copy does not begin.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, StreamHandle};
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// current.await_turn(StreamHandle::DEFAULT)?;
    /// assert!(current.is_stream_complete(StreamHandle::DEFAULT)?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CudaError::Busy`](arrow_cuda_driver::CudaError::Busy); driver errors, including those of the stream's work.
    pub fn await_turn(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        self.await_stream_in_place_of(stream)?;
        self.raw_stream(stream)?; // nor may it begin where it would end a capture
        let is_complete = || !matches!(self.is_stream_complete(stream), Ok(false));
        if is_complete() || Patience::new().await_turn(is_complete)? {
            return Ok(());
        }
        self.synchronize_stream(stream)
    }

    /// Waits for the stream that this thread uses in place of the default stream, if `stream` is that, as
    /// [`await_turn`](Self::await_turn) does.  Nothing that follows would wait for it, whatever the driver
    /// says when it is asked.
    pub(crate) fn await_stream_in_place_of(&self, stream: StreamHandle<'_>) -> CudaResult<()> {
        let Some(stream) = self.in_place_of(stream) else { return Ok(()) };
        let ask = || self.is_stream_complete(stream.handle());
        if ask() == Ok(true) {
            return Ok(());
        }
        Patience::new().await_turn(|| ask() != Ok(false))?;
        self.synchronize_stream(stream.handle())
    }

    /// Copies device memory to the host.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 4, Placement::Packed)?, context.enter()?);
    /// let (address, mut out) = (block.private_address(), [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     current.fill_memory(address, 7, 4)?;
    ///     current.copy_to_host(out.as_mut_ptr(), address, 4)?;
    /// }
    /// assert_eq!(out, [7, 7, 7, 7]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, and of earlier work.
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and `out` must be the caller's to write.
    pub unsafe fn copy_to_host(&self, out: *mut u8, from: u64, size: usize) -> CudaResult<()> {
        self.await_turn(StreamHandle::DEFAULT)?;
        // SAFETY: guaranteed by the caller.
        let copied = unsafe { call!(cuMemcpyDtoH_v2(out.cast(), from, size)) };
        or_in_steps(copied, size, |at, length| {
            let mut staged = [0u8; STAGED];
            // SAFETY: guaranteed by the caller; there is room for `length` bytes here.
            unsafe {
                call!(cuMemcpyDtoH_v2(staged.as_mut_ptr().cast(), from + at as u64, length))?;
                ptr::copy_nonoverlapping(staged.as_ptr(), out.add(at), length);
            }
            Ok(())
        })
    }

    /// Copies host memory to the device.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 4, Placement::Packed)?, context.enter()?);
    /// let (address, mut out) = (block.private_address(), [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     current.copy_from_host(address, [1, 2, 3, 4].as_ptr(), 4)?;
    ///     current.copy_to_host(out.as_mut_ptr(), address, 4)?;
    /// }
    /// assert_eq!(out, [1, 2, 3, 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, and of earlier work.
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
        let waited = self.synchronize_stream(StreamHandle::DEFAULT);
        or_in_steps(begun, size, |at, length| {
            // SAFETY: guaranteed by the caller.
            unsafe { self.copy_staged(to + at as u64, data.add(at), length) }
        })?;
        waited
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
        // SAFETY: guaranteed by the caller; there is room for `size` bytes.
        unsafe { ptr::copy_nonoverlapping(data, staged.as_mut_ptr().cast(), size) };
        // SAFETY: guaranteed by the caller; the driver has read what is pageable when the call returns.
        let begun = unsafe {
            self.queue_copy_from_host(to, staged.as_ptr().cast(), size, StreamHandle::DEFAULT)
        };
        begun.and(await_end(
            || self.is_stream_complete(StreamHandle::DEFAULT),
            || self.synchronize_stream(StreamHandle::DEFAULT),
        ))
    }

    /// Sets every byte of a range to `value`, and waits for it on the legacy default stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 4, Placement::Packed)?, context.enter()?);
    /// let (address, mut out) = (block.private_address(), [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     current.fill_memory(address, 7, 4)?;
    ///     current.fill_memory(address + 1, 0, 2)?;
    ///     current.copy_to_host(out.as_mut_ptr(), address, 4)?;
    /// }
    /// assert_eq!(out, [7, 0, 0, 7]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors: of this call, and of earlier work.
    ///
    /// # Safety
    ///
    /// The range must be live, and the caller's to write.
    pub unsafe fn fill_memory(&self, address: u64, value: u8, size: usize) -> CudaResult<()> {
        self.await_turn(StreamHandle::DEFAULT)?;
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemsetD8_v2(address, value, size)) }?;
        self.synchronize_stream(StreamHandle::DEFAULT)
    }
}

/// Waits for a copy that was queued: asks whether it has ended, or waits.  If that takes long, and signals may end
/// copies, it stays queued.  Reports errors of the work before it, too.
pub(crate) fn await_end(
    has_ended: impl Fn() -> CudaResult<bool>,
    wait: impl FnOnce() -> CudaResult<()>,
) -> CudaResult<()> {
    let mut answer = Ok(false);
    let is_over = || {
        answer = has_ended();
        answer != Ok(false)
    };
    match Patience::new().await_end(is_over)? {
        true => answer.map(drop),
        false => wait(),
    }
}

/// Repeats in small steps, through memory of this thread, a copy that the driver has refused.  The driver refuses a
/// range of the host that begins in pinned memory, unless one call has pinned all of it.
fn or_in_steps(
    whole: CudaResult<()>,
    size: usize,
    mut copy: impl FnMut(usize, usize) -> CudaResult<()>,
) -> CudaResult<()> {
    match whole {
        Err(error) if error.code() == Some(codes::INVALID_VALUE) => {
            (0..size).step_by(STAGED).try_for_each(|at| copy(at, STAGED.min(size - at)))
        }
        whole => whole,
    }
}
