//! Copies that are complete when they return.
//!
//! Either the driver makes a copy alone, or the stager's threads stage it through pinned memory.
//! Both respect the order of the legacy default stream.

use crate::pinned::is_device_accessible;
use crate::staging::{HostMemory, Task, run};
use arrow_cuda_context::{Block, Context, Current, is_pinned_block};
use arrow_cuda_driver::{CudaResult, Patience};
use std::mem::MaybeUninit;

/// If a signal may end a copy, the driver copies at most this many bytes by one call, which takes a few
/// milliseconds.
const PIECE: usize = 256 << 20;

/// Up to this size, nobody is asked whether others have pinned the host memory.
const UNASKED: usize = 16 << 10;

/// Has the driver copy `size` bytes, in pieces if a signal may end that.  Each copy gets an offset and a size.
fn copy_in_pieces(
    size: usize,
    mut copy: impl FnMut(usize, usize) -> CudaResult<()>,
) -> CudaResult<()> {
    let mut patience = Patience::new();
    let piece = if patience.ends_copies() { PIECE } else { size.max(1) };
    for at in (0..size).step_by(piece) {
        patience.check()?;
        copy(at, piece.min(size - at))?;
    }
    Ok(())
}

/// Copies host bytes to a device.
///
/// # Safety
///
/// As many bytes at `to` must be live memory of the context's device, and the caller's to write.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_from_host(context: &Context, to: u64, data: &[u8]) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_from_host_to(context, DevicePlace::at(to), data) }
}

/// Device memory that a copy writes to, or reads.
#[derive(Clone, Copy, Debug)]
pub struct DevicePlace<'a> {
    /// Where the bytes are.
    pub address: u64,
    /// The block that has the address, if this process has allocated it.
    pub block: Option<&'a Block>,
}

impl DevicePlace<'_> {
    /// Memory of which only the address is known.
    pub const fn at(address: u64) -> Self {
        Self { address, block: None }
    }
}

/// Copies likewise to a target, which need not have the bytes yet when the call returns if its block is not exposed.
///
/// # Safety
///
/// As for [`copy_from_host`].
pub(crate) unsafe fn copy_from_host_to(
    context: &Context,
    DevicePlace { address: to, block }: DevicePlace<'_>,
    data: &[u8],
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if unsafe { run(&current, Task::Upload, HostMemory::source(data), to) }?.is_some() {
        return Ok(());
    }
    let into_block = |block| {
        // SAFETY: guaranteed by the caller; `data` is readable for its length.
        unsafe { current.copy_into_private(block, to, data.as_ptr(), data.len()) }
    };
    if block.map_or(Ok(false), into_block)? {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    unsafe { copy_with_driver(&current, to, data) }
}

/// # Safety
///
/// As for [`copy_from_host`].
pub(crate) unsafe fn copy_with_driver(
    current: &Current<'_>,
    to: u64,
    data: &[u8],
) -> CudaResult<()> {
    copy_in_pieces(data.len(), |at, size| {
        // SAFETY: guaranteed by the caller; `data` is readable for its length.
        unsafe { current.copy_from_host(to + at as u64, data[at..].as_ptr(), size) }
    })
}

/// Copies `out.len()` bytes of a device to the host.  All of `out` is initialised when the call
/// succeeds.
///
/// # Safety
///
/// As many bytes at `from` must be live memory of the context's device.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_to_host(
    context: &Context,
    out: &mut [MaybeUninit<u8>],
    from: u64,
) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_to_host_from(context, out, DevicePlace::at(from)) }
}

/// As [`copy_to_host`].  Of the process's own blocks, which are not released before the device has left them, small
/// pieces go through slots: after an error, the device may still read them.
///
/// # Safety
///
/// As for [`copy_to_host`].
pub(crate) unsafe fn copy_to_host_from(
    context: &Context,
    out: &mut [MaybeUninit<u8>],
    DevicePlace { address: from, block }: DevicePlace<'_>,
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if unsafe { run(&current, Task::Download, HostMemory::target(out), from) }?.is_some() {
        return Ok(());
    }
    let (start, size) = (out.as_mut_ptr().cast::<u8>(), out.len());
    // The device writes to pinned memory itself.  To ask whether others have pinned some takes as long as to copy a
    // few bytes from a slot.
    let may_use_slot = block.is_some()
        && match size {
            _ if size > Current::SMALL => false,
            _ if size > UNASKED => !is_device_accessible(&current, start, size)?,
            _ => !is_pinned_block(start.addr() as u64, size as u64),
        };
    // SAFETY: guaranteed by the caller; `out` is writable for its length.
    if may_use_slot && unsafe { current.copy_small_to_host(start, from, size) }? {
        return Ok(());
    }
    copy_in_pieces(out.len(), |at, size| {
        // SAFETY: guaranteed by the caller; `out` is writable for its length.
        unsafe { current.copy_to_host(out[at..].as_mut_ptr().cast(), from + at as u64, size) }
    })
}

/// How much the driver copies to the host at a time for a comparison.
const STEP: usize = 4 << 20;
/// Copies in a process that has run out of memory.
const LEAST: usize = 4 << 10;

/// Whether a device holds exactly these bytes at an address.  Takes as long as copying them, and
/// stops at a difference.
///
/// # Safety
///
/// As many bytes at `at` must be live memory of the context's device.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn equals_host(context: &Context, at: u64, bytes: &[u8]) -> CudaResult<bool> {
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if let Some(differs) = unsafe { run(&current, Task::Compare, HostMemory::source(bytes), at) }? {
        return Ok(!differs);
    }
    let mut theirs = room(bytes.len().min(STEP));
    let step = theirs.len().max(1);
    let mut patience = Patience::new();
    for (number, ours) in bytes.chunks(step).enumerate() {
        patience.check()?;
        let from = at + (number * step) as u64;
        // SAFETY: guaranteed by the caller; `theirs` is writable for as many bytes.
        unsafe { current.copy_to_host(theirs.as_mut_ptr(), from, ours.len()) }?;
        if theirs[..ours.len()] != *ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `most` bytes, or fewer if the process has no memory for them.
fn room(most: usize) -> Vec<u8> {
    let (mut bytes, mut size) = (Vec::new(), most);
    while size > LEAST && bytes.try_reserve_exact(size).is_err() {
        size /= 2;
    }
    bytes.resize(size, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_cuda_driver::{CudaError, Interruption, interruptible};
    use std::cell::RefCell;
    use std::thread;
    use std::time::Duration;

    const SIZE: usize = 2 * PIECE + 1;

    #[test]
    fn a_copy_is_one_call_where_nothing_ends_it() {
        let mut calls = Vec::new();
        let copied = copy_in_pieces(SIZE, |at, size| {
            calls.push((at, size));
            Ok(())
        });
        assert_eq!((copied, calls), (Ok(()), vec![(0, SIZE)]));
        assert_eq!(copy_in_pieces(0, |_, _| Err(CudaError::Busy)), Ok(()));
    }

    #[test]
    fn a_copy_ends_behind_a_piece() {
        let calls = RefCell::new(Vec::new());
        let copy = |pause| {
            copy_in_pieces(SIZE, |at, size| {
                thread::sleep(pause);
                calls.borrow_mut().push((at, size));
                Ok(())
            })
        };
        // No pause is long enough to look for signals.
        let copied = interruptible(Interruption::Pieces(|| false), || copy(Duration::ZERO));
        assert_eq!(copied, Some(Ok(())));
        assert_eq!(calls.take(), [(0, PIECE), (PIECE, PIECE), (2 * PIECE, 1)]);
        let pause = Duration::from_millis(100);
        assert_eq!(interruptible(Interruption::Pieces(|| true), || copy(pause)), None);
        assert_eq!(calls.take(), [(0, PIECE)]);
    }
}
