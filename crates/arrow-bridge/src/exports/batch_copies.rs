//! Buffers that are allocated and copied together, for C++.

use super::buffers::{Lent, host, host_mut};
use super::context;
use crate::fault::{Fault, attempt};
use crate::ffi::{
    BufferPlace, Failure, HostRange, HostTarget, Kind, Owner, RustBuffer, RustStream,
};
use arrow_cuda_buffer::copy_to_host_scattered;
use std::slice;

pub(super) unsafe extern "C" fn copies_of_host(
    device: i32,
    ranges: *const HostRange,
    count: usize,
    out: *mut BufferPlace,
    failure: Option<&mut Failure>,
) -> bool {
    let work = || {
        // SAFETY: `count` ranges, each of them readable.
        let parts = unsafe { parts(ranges, count) }?;
        // SAFETY: room for as many buffers.
        unsafe { store(out, RustBuffer::adjacent_from_host(&context(device)?, &parts)?) };
        Ok(())
    };
    attempt(failure, work).is_some()
}

pub(super) unsafe extern "C" fn copies_of_buffers(
    device: i32,
    buffers: *const *const RustBuffer,
    count: usize,
    out: *mut BufferPlace,
    failure: Option<&mut Failure>,
) -> bool {
    let work = || {
        // SAFETY: `count` live buffers of this table.
        let sources = unsafe { borrowed(buffers, count) };
        // SAFETY: room for as many buffers.
        unsafe { store(out, RustBuffer::adjacent_copies(&context(device)?, &sources)?) };
        Ok(())
    };
    attempt(failure, work).is_some()
}

pub(super) unsafe extern "C" fn queued_copies_of_host(
    device: i32,
    stream: &RustStream,
    ranges: *const HostRange,
    count: usize,
    owner: Owner,
    out: *mut BufferPlace,
    failure: Option<&mut Failure>,
) -> bool {
    let owner = Box::new(Lent(owner));
    let work = || {
        // SAFETY: C++ passes `count` ranges, readable as long as the owner lives.
        let (stream, parts) = (stream.stream(), unsafe { parts(ranges, count)? });
        let context = context(device)?;
        // SAFETY: as above; that nobody changes them is for the program that passed the stream.
        let queued =
            unsafe { RustBuffer::queue_adjacent_from_host(&context, stream, &parts, owner) };
        // SAFETY: room for as many buffers.
        unsafe { store(out, queued?.0) };
        Ok(())
    };
    attempt(failure, work).is_some()
}

pub(super) unsafe extern "C" fn queued_copies_of_buffers(
    device: i32,
    stream: &RustStream,
    buffers: *const *const RustBuffer,
    count: usize,
    owner: Owner,
    out: *mut BufferPlace,
    failure: Option<&mut Failure>,
) -> bool {
    let owner = Box::new(Lent(owner));
    let work = || {
        // SAFETY: C++ passes `count` live buffers.
        let (stream, sources) = (stream.stream(), unsafe { borrowed(buffers, count) });
        let context = context(device)?;
        let (copies, _) = RustBuffer::queue_adjacent_copies(&context, stream, &sources, owner)?;
        // SAFETY: room for as many buffers.
        unsafe { store(out, copies) };
        Ok(())
    };
    attempt(failure, work).is_some()
}

pub(super) unsafe extern "C" fn copy_all_to_host(
    buffers: *const *const RustBuffer,
    targets: *const HostTarget,
    count: usize,
    failure: Option<&mut Failure>,
) -> bool {
    let work = || {
        // SAFETY: `count` live buffers of this table, and as many targets.
        let (sources, targets) = unsafe { (borrowed(buffers, count), all(targets, count)) };
        let mut parts = Vec::with_capacity(count);
        for (source, target) in sources.into_iter().zip(targets) {
            // SAFETY: no two targets overlap, and each is writable.
            let target = unsafe { host_mut(target.data.cast(), signed(target.size)?)? };
            parts.push((source, target));
        }
        Ok(copy_to_host_scattered(parts)?)
    };
    attempt(failure, work).is_some()
}

/// The bytes of `count` ranges.
///
/// # Safety
///
/// They must be readable during the call.
unsafe fn parts<'a>(ranges: *const HostRange, count: usize) -> Result<Vec<&'a [u8]>, Fault> {
    // SAFETY: guaranteed by the caller.
    let ranges = unsafe { all(ranges, count) };
    // SAFETY: as above.
    ranges.iter().map(|range| unsafe { host(range.data.cast(), signed(range.size)?) }).collect()
}

/// `count` buffers.
///
/// # Safety
///
/// They must live during the call.
pub(super) unsafe fn borrowed<'a>(
    buffers: *const *const RustBuffer,
    count: usize,
) -> Vec<&'a RustBuffer> {
    // SAFETY: guaranteed by the caller.
    unsafe { all(buffers, count).iter().map(|buffer| &**buffer).collect() }
}

/// `count` values that C++ passes; null is allowed if `count` is 0.
///
/// # Safety
///
/// They must be valid during the call.
unsafe fn all<'a, T>(first: *const T, count: usize) -> &'a [T] {
    // SAFETY: guaranteed by the caller.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(first, count) } }
}

/// Hands buffers over to C++, exposed as all memory that libarrow allocates.
///
/// # Safety
///
/// There must be room for all of them at `out`.
unsafe fn store(out: *mut BufferPlace, buffers: Vec<RustBuffer>) {
    for (number, buffer) in buffers.into_iter().enumerate() {
        buffer.expose();
        // SAFETY: guaranteed by the caller; a buffer fits into its place.
        unsafe { out.add(number).cast::<RustBuffer>().write(buffer) };
    }
}

fn signed(size: usize) -> Result<i64, Fault> {
    i64::try_from(size).map_err(|error| Fault::new(Kind::Memory, error))
}
