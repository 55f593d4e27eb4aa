//! When a copy is made: now, or in the order of a stream.

use crate::copy::{DevicePlace, copy_from_host_to, copy_to_host_from};
use crate::pinned::is_device_accessible;
use arrow_cuda_context::{Completed, Context, Retained, Stream};
use arrow_cuda_driver::CudaResult;
use std::mem::MaybeUninit;
use std::slice;

/// When a copy is made, and whether the call that asks for it waits.
#[derive(Clone, Copy, Debug)]
pub enum CopyOrder<'a> {
    /// Now, after the work that is queued on the legacy default stream.  The copy is complete when the
    /// call returns.
    Now,
    /// When a stream comes to it.  The call returns when the copy is queued, unless it is from or to
    /// pageable host memory: the device cannot access that directly, and it might change before the
    /// copy's turn comes.  The calling thread then waits for the stream, and makes the copy like one
    /// without a stream, and as fast.
    On(&'a Stream),
}

/// Copies `size` bytes of the host to a device, to an address and the block that it lies in, if that was allocated
/// here.
///
/// A queued copy retains the `owner` of the memory until it is complete; no other copy asks for it.
/// The result holds the owners of earlier work that is complete by now.
///
/// # Safety
///
/// `to` must be live memory of the context's device, and the caller's to write, and `data` must be
/// readable: until the call returns, and as long as the owner lives.  Nobody may change the bytes
/// before a stream has made the copy.  The context must be the stream's.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_from_host_in(
    order: CopyOrder<'_>,
    context: &Context,
    to: DevicePlace<'_>,
    data: *const u8,
    size: usize,
    owner: impl FnOnce() -> Retained,
) -> CudaResult<Completed> {
    let mut completed = Completed::default();
    if let CopyOrder::On(stream) = order {
        let current = context.enter()?;
        if is_device_accessible(&current, data, size)? {
            return stream.enqueue(owner(), |current, stream| {
                // SAFETY: guaranteed by the caller; the owner is retained until the copy is made.
                unsafe { current.queue_copy_from_host(to.address, data, size, stream) }
            });
        }
        drop(current); // a wait may handle signals
        completed = await_turn(stream)?;
    }
    // A slice must not begin at null, also when it has no bytes.
    // SAFETY: guaranteed by the caller.
    let data = if size == 0 { &[] } else { unsafe { slice::from_raw_parts(data, size) } };
    // SAFETY: guaranteed by the caller.
    unsafe { copy_from_host_to(context, to, data) }.map(|()| completed)
}

/// Copies `size` bytes of a device to the host.
///
/// A queued copy retains the `owner` of the memory until it is complete; no other copy asks for it.
/// The result holds the owners of earlier work that is complete by now.
///
/// # Safety
///
/// `from` must be live memory of the context's device, and `out` must be writable: until the call
/// returns, and as long as the owner lives.  Nobody may use `out` before a stream has made the copy.
/// If the block of `from` is given, the device may read it after an error, too, at any time.
/// The context must be the stream's.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_to_host_in(
    order: CopyOrder<'_>,
    context: &Context,
    out: *mut u8,
    from: DevicePlace<'_>,
    size: usize,
    owner: impl FnOnce() -> Retained,
) -> CudaResult<Completed> {
    let mut completed = Completed::default();
    if let CopyOrder::On(stream) = order {
        let current = context.enter()?;
        if is_device_accessible(&current, out, size)? {
            return stream.enqueue(owner(), |current, stream| {
                // SAFETY: guaranteed by the caller; the owner is retained until the copy is made.
                unsafe { current.queue_copy_to_host(out, from.address, size, stream) }
            });
        }
        drop(current); // a wait may handle signals
        completed = await_turn(stream)?;
    }
    let out = out.cast::<MaybeUninit<u8>>();
    // SAFETY: guaranteed by the caller.
    let out = if size == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(out, size) } };
    // SAFETY: guaranteed by the caller.
    unsafe { copy_to_host_from(context, out, from) }.map(|()| completed)
}

/// Waits for the work that is queued on a stream.
fn await_turn(stream: &Stream) -> CudaResult<Completed> {
    stream.refuse_capture()?;
    stream.context().enter()?.await_turn(stream.handle())?;
    stream.synchronize()
}
