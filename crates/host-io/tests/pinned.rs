//! Which uses of pinned memory show its address to others: released memory that is private is reused
//! at once, whatever the device does; exposed memory waits.

#![allow(clippy::disallowed_macros, reason = "keeps a stream busy, past the crates")]

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Cache, Context, MemoryStats, Stream, completed};
use arrow_cuda_driver::call;
use arrow_cuda_host_io::{BufferWriter, HostBuffer, queue_download, queue_upload};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A block of this size has a driver allocation of its own.
const SIZE: usize = 32 << 20;

/// The whole process shares the cache: one test at a time, each with an empty cache.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    drop(completed());
    Cache::Pinned.empty().expect("alive");
    (guard, context)
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

/// A stream that is busy until it is dropped.
struct Busy(Stream, &'static AtomicBool);

impl Busy {
    fn new(context: &Context) -> Self {
        extern "C" fn wait(is_over: *mut c_void) {
            // SAFETY: a flag that is never freed.
            while !unsafe { &*is_over.cast::<AtomicBool>() }.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let stream = Stream::non_blocking(context).expect("room");
        let is_over: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let _current = context.enter().expect("alive");
        let (wait, flag) = (wait as *mut c_void, (&raw const *is_over).cast_mut().cast());
        // SAFETY: a live stream, and a function that takes such an argument.
        unsafe { call!(cuLaunchHostFunc(stream.as_raw(), wait, flag)) }.expect("room");
        Self(stream, is_over)
    }

    /// Ends it in some seconds: a driver may wait for the stream before it pins memory.
    fn end_later(&self) {
        let is_over = self.1;
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(5));
            is_over.store(true, Ordering::Release);
        });
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.1.store(true, Ordering::Release);
        let _waited = self.0.synchronize();
    }
}

#[test]
fn an_address_that_others_get_exposes() {
    let (_alone, context) = alone();
    let pinned = allocate(&context, SIZE);
    let busy = Busy::new(&context);
    let address = pinned.as_ptr();
    drop(pinned);
    busy.end_later();
    assert_ne!(allocate(&context, SIZE).as_slice().as_ptr(), address.cast_const());
    drop(busy);
    let both = [allocate(&context, SIZE), allocate(&context, SIZE)];
    assert!(both.iter().any(|pinned| pinned.as_slice().as_ptr() == address.cast_const()));
}

#[test]
fn slices_do_not_expose() {
    let (_alone, context) = alone();
    let mut pinned = allocate(&context, SIZE);
    let _busy = Busy::new(&context);
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
        let busy = Busy::new(&context);
        let pinned = allocate(&context, SIZE);
        if is_upload {
            drop(queue_upload(&busy.0, &buffer, 0, Arc::new(pinned)).expect("alive"));
        } else {
            drop(queue_download(&busy.0, &buffer, 0, pinned).expect("alive"));
        }
        assert_eq!((stats().cached_blocks, stats().allocated_bytes), (0, SIZE as u64));
        let _other = Busy::new(&context); // after the first: a driver's functions on the host have one thread
        drop(busy);
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
    let _busy = Busy::new(&context);
    writer.write(b"abc").expect("room");
    writer.flush().expect("alive");
    drop(writer);
    assert_ready(&context, SIZE);
}
