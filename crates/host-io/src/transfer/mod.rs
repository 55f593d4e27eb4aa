//! Copies between host memory and devices, as fast as the link between them.
//!
//! The driver moves ordinary (pageable) memory with one thread, at a fraction of what the link can
//! do. Here several threads move it through pinned memory: they copy between the host memory and
//! slots of pinned memory, while the device moves other slots. Memory that is pinned already needs
//! none of that, and small copies are as fast by the driver.
//!
//! A copy is ordered as the driver's is: it sees the work that was queued on the legacy default
//! stream before, and is complete when the call returns.

mod crew;
#[expect(unsafe_code, reason = "hands memory to other threads")]
mod engine;
#[expect(unsafe_code, reason = "advises the kernel")]
mod fresh;
mod gather;
#[expect(unsafe_code, reason = "hands memory to other threads")]
mod host;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod job;
mod patience;
mod plan;
#[expect(unsafe_code, reason = "calls the driver")]
mod ring;
mod settings;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod stores;

use crate::pinned::is_pinned;
use arrow_cuda_buffer::{DeviceBuffer, Error, range};
use arrow_cuda_context::Context;
pub use gather::upload_gathered;
use host::HostMemory;
use job::Task;
use plan::Plan;
pub use plan::{MOST_THREADS, TransferLimits};
pub use settings::{set_transfer_limits, transfer_limits};
use std::mem::MaybeUninit;

/// Copies host bytes into a buffer, from `position` on.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4 << 20)?;
/// arrow_cuda_host_io::upload(&buffer, 0, &vec![7; 4 << 20])?;
/// assert_eq!(buffer.slice(1 << 20, 2)?.to_vec()?, [7, 7]);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], or the driver's.
pub fn upload(buffer: &DeviceBuffer, position: u64, data: &[u8]) -> Result<(), Error> {
    let host = HostMemory::source(data);
    match by_pinned_memory(Task::Upload, buffer, position, host)? {
        Some(_) => Ok(()),
        None => buffer.copy_from_host(position, data),
    }
}

/// Copies `out.len()` bytes of a buffer, from `position` on, to the host.
///
/// # Errors
///
/// [`Error::OutOfBounds`], or the driver's.
pub fn download(buffer: &DeviceBuffer, position: u64, out: &mut [u8]) -> Result<(), Error> {
    match by_pinned_memory(Task::Download, buffer, position, HostMemory::target(out))? {
        Some(_) => Ok(()),
        None => buffer.copy_to_host(position, out),
    }
}

/// As [`download`], into memory that nobody has written to yet.  All of it is initialised when the
/// call succeeds.
///
/// # Errors
///
/// [`Error::OutOfBounds`], or the driver's.
pub fn download_to_uninit(
    buffer: &DeviceBuffer,
    position: u64,
    out: &mut [MaybeUninit<u8>],
) -> Result<(), Error> {
    match by_pinned_memory(Task::Download, buffer, position, HostMemory::uninit_target(out))? {
        Some(_) => Ok(()),
        None => buffer.copy_to_uninit(position, out),
    }
}

/// Whether a buffer holds exactly these host bytes.  Takes as long as to copy them, and stops at a
/// difference.
///
/// # Errors
///
/// The driver's.
pub fn equals_host(buffer: &DeviceBuffer, bytes: &[u8]) -> Result<bool, Error> {
    if buffer.size() != bytes.len() as u64 {
        return Ok(false);
    }
    let host = HostMemory::source(bytes);
    match by_pinned_memory(Task::Compare, buffer, 0, host)? {
        Some(differs) => Ok(!differs),
        None => buffer.equals_host(bytes),
    }
}

/// Does a task by way of pinned memory: whether a comparison has found a difference.  None where
/// the driver is to do it alone.
fn by_pinned_memory(
    task: Task,
    buffer: &DeviceBuffer,
    position: u64,
    host: HostMemory<'_>,
) -> Result<Option<bool>, Error> {
    let (limits, context) = (transfer_limits(), buffer.context());
    let Plan::Staged { threads, piece } = limits.plan(task, host.size()) else { return Ok(None) };
    // A borrowed context may be destroyed, and what is made in it would go with it.
    if !context.is_primary() || is_pinned_memory(context, &host)? {
        return Ok(None);
    }
    range::within(position, host.size() as u64, buffer.size())?;
    if task == Task::Upload {
        buffer.check_mutable()?;
    }
    buffer.check_alive()?;
    // Before any lock: a forked child hears of it here, whose locks another thread may have held.
    let _current = context.enter()?;
    if context.check_not_reset().is_err() {
        return Ok(None); // the driver's copy says what is wrong
    }
    let engine = engine::of(context);
    if !engine.is_worth_it(host.size(), &limits) {
        return Ok(None);
    }
    let device = buffer.address() + position;
    let done = engine.run(context, &limits, (threads, piece), task, host, device);
    Ok(done.transpose()?)
}

/// Whether the device can move the memory itself, at full speed.
fn is_pinned_memory(context: &Context, host: &HostMemory<'_>) -> Result<bool, Error> {
    let Some(start) = host.start_of_only_part() else { return Ok(false) };
    Ok(is_pinned(context, start, host.size())?)
}
