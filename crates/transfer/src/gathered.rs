//! Copies between many parts of host memory and one range of device memory.
//!
//! Each part comes with its offset in the range, in bytes.  The offsets ascend and no two parts
//! overlap, but there may be gaps: the padding of Arrow buffers.  Many small parts cost hardly more
//! than one copy of the whole range.

use crate::copy::copy_with_driver;
use crate::staging::{HostMemory, Task, run};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;
use std::mem::MaybeUninit;

/// The driver copies contiguous memory, so parts that lie within this many bytes go through memory of
/// the host's, to save calls.  Larger ones are copied from and to their own places.
const GATHER_LIMIT: usize = 256 << 10;

/// Gathers parts of host memory into device memory from `to` on.  Gaps between them become zeros.
///
/// # Safety
///
/// As for [`copy_from_host`](crate::copy_from_host), for the range up to the end of the last part.
/// The offsets must ascend, without an overlap.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_from_host_gathered(
    context: &Context,
    to: u64,
    parts: &[(usize, &[u8])],
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if unsafe { run(&current, Task::Upload, HostMemory::sources(parts), to) }?.is_some() {
        return Ok(());
    }
    let (mut sent, mut gathered) = (0, Vec::new());
    // SAFETY: guaranteed by the caller: it is the next part of the range.
    let send =
        |at: usize, bytes: &[u8]| unsafe { copy_with_driver(&current, to + at as u64, bytes) };
    for (at, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        gathered.resize(at - sent, 0);
        if gathered.len() + part.len() > GATHER_LIMIT {
            send(sent, &gathered)?;
            sent = *at;
            gathered.clear();
        }
        if part.len() > GATHER_LIMIT {
            send(sent, part)?;
            sent += part.len();
        } else {
            gathered.extend_from_slice(part);
        }
    }
    send(sent, &gathered)
}

/// Scatters device memory from `from` on to parts of host memory.  All of them are initialised when
/// the call succeeds.  Gaps between them may be read, too.
///
/// # Safety
///
/// The range up to the end of the last part must be live memory of the context's device.  The offsets
/// must ascend, without an overlap.
///
/// # Errors
///
/// When the context is gone; driver errors.
pub unsafe fn copy_to_host_scattered(
    context: &Context,
    parts: &mut [(usize, &mut [MaybeUninit<u8>])],
    from: u64,
) -> CudaResult<()> {
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if unsafe { run(&current, Task::Download, HostMemory::targets(parts), from) }?.is_some() {
        return Ok(());
    }
    let receive = |at: usize, out: &mut [MaybeUninit<u8>]| {
        let (out, size) = (out.as_mut_ptr().cast(), out.len());
        if size == 0 {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller; `out` is writable for its length.
        unsafe { current.copy_to_host(out, from + at as u64, size) }
    };
    let mut staging = Vec::new();
    let mut rest = parts;
    while let Some((start, first)) = rest.first_mut() {
        let start = *start;
        if first.len() > GATHER_LIMIT {
            receive(start, first)?;
            rest = &mut rest[1..];
            continue;
        }
        let fits = |(at, part): &&(usize, &mut [_])| at + part.len() - start <= GATHER_LIMIT;
        let group = rest.iter().take_while(fits).count();
        let (group, behind) = rest.split_at_mut(group);
        rest = behind;
        if let [(at, only)] = group {
            receive(*at, only)?;
            continue;
        }
        let end = group.last().map_or(start, |(at, part)| at + part.len());
        staging.resize(end - start, MaybeUninit::uninit());
        receive(start, &mut staging)?;
        for (at, part) in group {
            part.copy_from_slice(&staging[*at - start..][..part.len()]);
        }
    }
    Ok(())
}
