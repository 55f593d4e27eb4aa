//! Copies that are complete when they return.
//!
//! Each takes one of two ways: by the driver alone, or through page-locked memory with the engine's
//! threads.  Both keep the order of the legacy default stream.

use crate::engine::{HostMemory, Task, run};
use arrow_cuda_context::{Context, Current};
use arrow_cuda_driver::CudaResult;
use std::mem::MaybeUninit;

/// Copies host bytes to a device.
///
/// # Safety
///
/// As many bytes at `to` must be live memory of the context's device, and the caller's to write.
///
/// # Errors
///
/// When the context is gone; the driver's.
pub unsafe fn copy_from_host(context: &Context, to: u64, data: &[u8]) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: the caller's promise.
    if unsafe { run(&current, Task::Upload, HostMemory::source(data), to) }?.is_some() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { by_driver(&current, to, data) }
}

unsafe fn by_driver(current: &Current<'_>, to: u64, data: &[u8]) -> CudaResult<()> {
    match data {
        [] => Ok(()),
        // SAFETY: the caller's promise; `data` is readable for its length.
        _ => unsafe { current.copy_from_host(to, data.as_ptr(), data.len()) },
    }
}

/// Parts up to this size are copied once more on the host, to spare a copy to the device.
const TOGETHER: usize = 256 << 10;

/// Copies parts of host memory to a device, one behind the other, as if they were one: many small
/// ones cost hardly more than a single one of their size.
///
/// # Safety
///
/// As for [`copy_from_host`], for all parts together.
///
/// # Errors
///
/// When the context is gone; the driver's.
pub unsafe fn copy_from_host_gathered(
    context: &Context,
    to: u64,
    parts: &[&[u8]],
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: the caller's promise.
    if unsafe { run(&current, Task::Upload, HostMemory::sources(parts), to) }?.is_some() {
        return Ok(());
    }
    // The driver copies what is together: small parts are put together first.
    let mut to = to;
    let mut together: Vec<u8> = Vec::new();
    let flush = |together: &mut Vec<u8>, to: &mut u64| {
        // SAFETY: the caller's promise: it is the next part of the range.
        unsafe { by_driver(&current, *to, together) }?;
        *to += together.len() as u64;
        together.clear();
        Ok(())
    };
    for part in parts {
        if together.len() + part.len() > TOGETHER {
            flush(&mut together, &mut to)?;
        }
        if part.len() > TOGETHER {
            // SAFETY: as above.
            unsafe { by_driver(&current, to, part) }?;
            to += part.len() as u64;
        } else {
            together.extend_from_slice(part);
        }
    }
    flush(&mut together, &mut to)
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
/// When the context is gone; the driver's.
pub unsafe fn copy_to_host(
    context: &Context,
    out: &mut [MaybeUninit<u8>],
    from: u64,
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: the caller's promise.
    if unsafe { run(&current, Task::Download, HostMemory::target(out), from) }?.is_some() {
        return Ok(());
    }
    match out.len() {
        0 => Ok(()),
        // SAFETY: the caller's promise; `out` is writable for its length.
        size => unsafe { current.copy_to_host(out.as_mut_ptr().cast(), from, size) },
    }
}

/// How much the driver brings to the host at a time, to be compared there.
const STEP: usize = 4 << 20;

/// Whether a device holds exactly these bytes at an address.  Takes as long as to copy them, and stops
/// at a difference.
///
/// # Safety
///
/// As many bytes at `at` must be live memory of the context's device.
///
/// # Errors
///
/// When the context is gone; the driver's.
pub unsafe fn equals_host(context: &Context, at: u64, bytes: &[u8]) -> CudaResult<bool> {
    let current = context.enter()?;
    // SAFETY: the caller's promise.
    if let Some(differs) = unsafe { run(&current, Task::Compare, HostMemory::source(bytes), at) }? {
        return Ok(!differs);
    }
    let mut theirs = vec![0u8; bytes.len().min(STEP)];
    for (number, ours) in bytes.chunks(STEP).enumerate() {
        let from = at + (number * STEP) as u64;
        // SAFETY: the caller's promise; so many bytes are there to be written.
        unsafe { current.copy_to_host(theirs.as_mut_ptr(), from, ours.len()) }?;
        if theirs[..ours.len()] != *ours {
            return Ok(false);
        }
    }
    Ok(true)
}
