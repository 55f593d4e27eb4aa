//! Which uses of pinned memory show its address to others: released memory that is private is reused
//! at once, whatever the device does; exposed memory waits.

#[path = "../../context/tests/common/mod.rs"]
mod common;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Cache, Context, MemoryStats, Stream, completed};
use arrow_cuda_host_io::{BufferWriter, HostBuffer, queue_download, queue_upload};
use common::Gate;
use std::sync::{Arc, MutexGuard};

/// A block of this size has a driver allocation of its own.
const SIZE: usize = 32 << 20;

/// Alone, with an empty cache.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    let alone = common::alone();
    Cache::Pinned.empty().expect("alive");
    alone
}

fn stats() -> MemoryStats {
    Cache::Pinned.stats().expect("bookkeeping")
}

fn allocate(context: &Context, size: usize) -> HostBuffer {
    HostBuffer::allocate(context, size).expect("room")
}

/// Asserts that the cache has one block of `size` bytes, and serves it whatever the device does.
fn assert_ready(context: &Context, size: usize) {
    let before = stats();
    assert_eq!((before.cached_blocks, before.cached_bytes), (1, size as u64));
    drop(allocate(context, size));
    assert_eq!(stats().cache_hits, before.cache_hits + 1);
}

/// A stream, and what keeps it busy.
fn busy(context: &Context) -> (Stream, Gate) {
    let stream = Stream::non_blocking(context).expect("room");
    let gate = Gate::on(&stream);
    (stream, gate)
}

/// Another library may queue a copy of what it gets by a slice, too: `cudarc` does, in safe code.
#[test]
fn memory_that_others_get_is_exposed() {
    let (_alone, context) = alone();
    let three = || [(); 3].map(|()| allocate(&context, SIZE));
    let (stream, gate) = busy(&context);
    let [first, second, mut third] = three();
    let theirs =
        [first.as_ptr().cast_const(), second.as_slice().as_ptr(), third.as_mut_slice().as_ptr()];
    drop((first, second, third));
    let are_theirs = |pinned: [HostBuffer; 3]| {
        pinned.iter().filter(|pinned| theirs.contains(&pinned.private_ptr().cast_const())).count()
    };
    gate.beside(|| assert_eq!(are_theirs(three()), 0));
    gate.open();
    drop(stream.synchronize().expect("alive"));
    let all = [three(), three()];
    assert_ne!(all.map(are_theirs), [0; 2], "it serves again");
}

#[test]
fn queued_copies_do_not_expose_and_retain_the_memory() {
    let (_alone, context) = alone();
    let buffer = DeviceBuffer::allocate(&context, SIZE).expect("room");
    drop(allocate(&context, SIZE));
    for is_upload in [true, false] {
        let (stream, gate) = busy(&context);
        let pinned = allocate(&context, SIZE);
        if is_upload {
            drop(queue_upload(&stream, &buffer, 0, Arc::new(pinned)).expect("alive"));
        } else {
            drop(queue_download(&stream, &buffer, 0, pinned).expect("alive"));
        }
        assert_eq!((stats().cached_blocks, stats().allocated_bytes), (0, SIZE as u64));
        let _other = busy(&context); // after the first: a driver's functions on the host have one thread
        gate.open();
        drop(stream.synchronize().expect("alive"));
        drop(completed());
        assert_ready(&context, SIZE);
    }
}

#[test]
fn the_buffer_of_a_writer_is_private() {
    let (_alone, context) = alone();
    let buffer = DeviceBuffer::allocate(&context, 10).expect("room");
    let writer = BufferWriter::new(buffer).expect("mutable");
    writer.set_buffer_size(SIZE).expect("room");
    let _busy = busy(&context);
    writer.write_bytes(b"abc").expect("room");
    writer.flush().expect("alive");
    drop(writer);
    assert_ready(&context, SIZE);
}
