//! Which uses of pinned memory show its address to others: released memory that is private is reused
//! at once, whatever the device does; exposed memory waits.

#[path = "../../context/tests/common/mod.rs"]
mod common;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Cache, Context, MemoryStats, Stream, completed};
use arrow_cuda_host_io::{BufferWriter, HostBuffer, queue_download, queue_upload};
use common::Gate;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

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

#[test]
fn an_address_that_others_get_exposes() {
    let (_alone, context) = alone();
    let pinned = allocate(&context, SIZE);
    let (stream, gate) = busy(&context);
    let address = pinned.as_ptr();
    drop(pinned);
    // A driver may wait for the stream before it pins memory.
    let opener = gate.open_after(Duration::from_secs(5));
    assert_ne!(allocate(&context, SIZE).as_slice().as_ptr(), address.cast_const());
    opener.join().expect("no panic");
    drop(stream.synchronize().expect("alive"));
    let both = [allocate(&context, SIZE), allocate(&context, SIZE)];
    assert!(both.iter().any(|pinned| pinned.as_slice().as_ptr() == address.cast_const()));
}

#[test]
fn slices_do_not_expose() {
    let (_alone, context) = alone();
    let mut pinned = allocate(&context, SIZE);
    let _busy = busy(&context);
    let first = pinned.as_slice()[0];
    pinned.as_mut_slice()[0] = first;
    drop(pinned);
    assert_ready(&context, SIZE);
}

#[test]
fn queued_copies_do_not_expose_and_retain_the_memory() {
    let (_alone, context) = alone();
    let buffer = DeviceBuffer::allocate(&context, SIZE as u64).expect("room");
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
    let writer = BufferWriter::open(buffer).expect("mutable");
    writer.set_buffer_size(SIZE).expect("room");
    let _busy = busy(&context);
    writer.write(b"abc").expect("room");
    writer.flush().expect("alive");
    drop(writer);
    assert_ready(&context, SIZE);
}
