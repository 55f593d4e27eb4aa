//! Buffers that are allocated and copied together, for C++.

use super::buffers::{Lent, host, host_mut};
use crate::fault::Fault;
use crate::ffi::{
    BufferPlace, Failure, HostRange, HostTarget, Owner, RustBuffer, RustContext, RustStream,
};
use crate::kind::Kind;
use arrow_cuda_buffer::{CopyOrder, copy_to_host_scattered};
use std::slice;

exported! {
    /// New buffers in a context with the bytes of `count` ranges, allocated and
    /// copied together: now, or in the order of a stream of that context, which is waited for unless all
    /// ranges are pinned.  Stores `count` buffers at `out`, to be released at their places, or none on
    /// failure.  Takes ownership of `owner`, which keeps the ranges readable, even on failure.
    attempted copies_of_host(
        context: &RustContext,
        stream: Option<&RustStream>,
        ranges: *const HostRange,
        count: usize,
        owner: Owner,
        out: *mut BufferPlace,
    ) -> Failure {
        let owner = Box::new(Lent(owner));
        // SAFETY: C++ passes `count` ranges, readable as long as the owner lives.
        let ranges = unsafe { all(ranges, count) }.iter();
        // SAFETY: as above.
        let parts = ranges.map(|range| unsafe { host(range.data.cast(), signed(range.size)?) });
        let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
        let order = order_on(stream);
        // SAFETY: as above; that nobody changes them is for the program that passed the stream.
        let made = unsafe { RustBuffer::suballocated_from_host_in(order, context, &parts, owner) };
        // SAFETY: room for as many buffers.
        unsafe { store(out, made?.0) };
        Ok(())
    }

    /// As `copies_of_host`, with the bytes of other buffers, whose memory `owner` keeps valid.  The
    /// stream may belong to the context of the copies or to that of the buffers.
    attempted copies_of_buffers(
        context: &RustContext,
        stream: Option<&RustStream>,
        buffers: *const *const RustBuffer,
        count: usize,
        owner: Owner,
        out: *mut BufferPlace,
    ) -> Failure {
        let owner = Box::new(Lent(owner));
        // SAFETY: C++ passes `count` live buffers.
        let sources = unsafe { borrowed(buffers, count) };
        let order = order_on(stream);
        let (copies, _) = RustBuffer::suballocated_copies_in(order, context, &sources, owner)?;
        // SAFETY: room for as many buffers.
        unsafe { store(out, copies) };
        Ok(())
    }

    /// Copies `count` buffers to the host together, each to a target of its size.
    attempted copy_all_to_host(
        buffers: *const *const RustBuffer,
        targets: *const HostTarget,
        count: usize,
    ) -> Failure {
        // SAFETY: `count` live buffers of this table, and as many targets.
        let (sources, targets) = unsafe { (borrowed(buffers, count), all(targets, count)) };
        let mut parts = Vec::with_capacity(count);
        for (source, target) in sources.into_iter().zip(targets) {
            // SAFETY: no two targets overlap, and each is writable.
            let target = unsafe { host_mut(target.data.cast(), signed(target.size)?)? };
            parts.push((source, target));
        }
        Ok(copy_to_host_scattered(parts)?)
    }
}

fn order_on(stream: Option<&RustStream>) -> CopyOrder<'_> {
    stream.map_or(CopyOrder::Now, CopyOrder::On)
}

/// `count` of our objects.
///
/// # Safety
///
/// They must live during the call.
pub(super) unsafe fn borrowed<'a, T>(objects: *const *const T, count: usize) -> Vec<&'a T> {
    // SAFETY: guaranteed by the caller.
    unsafe { all(objects, count).iter().map(|object| &**object).collect() }
}

/// `count` values that C++ passes; null is allowed if `count` is 0.
///
/// # Safety
///
/// They must be valid during the call.
pub(super) unsafe fn all<'a, T>(first: *const T, count: usize) -> &'a [T] {
    // SAFETY: guaranteed by the caller.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(first, count) } }
}

/// Hands buffers over to C++, exposed as all memory that libarrow allocates.
///
/// # Safety
///
/// There must be room for all of them at `out`.
pub(super) unsafe fn store(out: *mut BufferPlace, buffers: Vec<RustBuffer>) {
    for (number, buffer) in buffers.into_iter().enumerate() {
        buffer.expose();
        // SAFETY: guaranteed by the caller; a buffer fits into its place.
        unsafe { out.add(number).cast::<RustBuffer>().write(buffer) };
    }
}

fn signed(size: usize) -> Result<i64, Fault> {
    i64::try_from(size).map_err(|error| Fault::new(Kind::Memory, error))
}
