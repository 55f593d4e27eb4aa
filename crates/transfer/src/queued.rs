//! Copies that are queued on a stream.
//!
//! The device accesses pinned memory directly, so copies of pinned memory are queued.  Pageable
//! memory might change before its turn comes: the calling thread waits for the stream, and then
//! makes the copy like one without a stream, and as fast.

use crate::{copy_from_host, copy_to_host, is_pinned};
use arrow_cuda_context::{Completed, Context, Retained, Stream};
use arrow_cuda_driver::CudaResult;
use std::mem::MaybeUninit;
use std::slice;

/// Copies `size` bytes of the host to the device of a stream's context, in the order of the stream.
///
/// The queued copy retains `owner` until it is complete.  The result holds the owners of earlier
/// work that is complete by now.
///
/// # Safety
///
/// `to` must be live memory of the device, and the caller's to write, as long as `owner` lives.
/// `data` must be readable for as long, and nobody may change it before the stream has made the
/// copy.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn queue_copy_from_host(
    stream: &Stream,
    to: u64,
    data: *const u8,
    size: usize,
    owner: Retained,
) -> CudaResult<Completed> {
    if is_pinned(stream.context(), data, size)? {
        return stream.enqueue(owner, |current, stream| {
            // SAFETY: guaranteed by the caller; the owner is retained until the copy is made.
            unsafe { current.queue_copy_from_host(to, data, size, stream) }
        });
    }
    copy_after_stream(stream, |context| {
        // A slice must not begin at null, also when it has no bytes.
        // SAFETY: guaranteed by the caller.
        let data = if size == 0 { &[] } else { unsafe { slice::from_raw_parts(data, size) } };
        // SAFETY: guaranteed by the caller.
        unsafe { copy_from_host(context, to, data) }
    })
}

/// Copies `size` bytes from the device of a stream's context to the host, in the order of the stream.
///
/// The queued copy retains `owner` until it is complete.  The result holds the owners of earlier
/// work that is complete by now.
///
/// # Safety
///
/// `from` must be live memory of the device, and `out` writable, as long as `owner` lives; nobody may
/// use `out` before the stream has made the copy.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn queue_copy_to_host(
    stream: &Stream,
    out: *mut u8,
    from: u64,
    size: usize,
    owner: Retained,
) -> CudaResult<Completed> {
    if is_pinned(stream.context(), out, size)? {
        return stream.enqueue(owner, |current, stream| {
            // SAFETY: guaranteed by the caller; the owner is retained until the copy is made.
            unsafe { current.queue_copy_to_host(out, from, size, stream) }
        });
    }
    copy_after_stream(stream, |context| {
        let out = out.cast::<MaybeUninit<u8>>();
        // SAFETY: guaranteed by the caller.
        let out = if size == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(out, size) } };
        // SAFETY: guaranteed by the caller.
        unsafe { copy_to_host(context, out, from) }
    })
}

fn copy_after_stream(
    stream: &Stream,
    copy: impl FnOnce(&Context) -> CudaResult<()>,
) -> CudaResult<Completed> {
    stream.context().enter()?.await_turn(stream.handle())?;
    let completed = stream.synchronize()?;
    copy(stream.context())?;
    Ok(completed)
}
