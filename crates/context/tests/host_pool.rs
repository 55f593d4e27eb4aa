//! The pool of pinned memory for many allocations: who gets memory when, and what outlives what.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{
    Attribute, Context, HostPool, empty_pinned_cache, pinned_memory_stats, set_pinned_cache_limit,
};
use arrow_cuda_driver::{CudaResult, call, is_simulated};
use common::Gate;
use std::collections::HashSet;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

const MIB: usize = 1 << 20;

/// The whole process shares the cache: one test at a time, each with an empty cache.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    set_pinned_cache_limit(512 << 20).expect("alive");
    HostPool::of(&context).release_unused();
    (guard, context)
}

/// An allocation, filled with a byte, which it has to hold until it is released.
struct Filled<'a> {
    pool: &'a HostPool,
    start: NonNull<u8>,
    size: usize,
    byte: u8,
}

// SAFETY: plain memory of its own.
unsafe impl Send for Filled<'_> {}

impl<'a> Filled<'a> {
    fn new(pool: &'a HostPool, size: usize, byte: u8) -> Self {
        let start = pool.allocate(size, 64).expect("room");
        assert_eq!(start.addr().get() % 64, 0);
        // SAFETY: allocated above.
        unsafe { start.write_bytes(byte, size) };
        Self { pool, start, size, byte }
    }

    fn address(&self) -> usize {
        self.start.addr().get()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: allocated, and written to.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) }
    }

    fn resize(&mut self, size: usize) {
        let (old, byte) = (self.size, self.byte);
        // SAFETY: allocated with that size, and replaced.
        self.start = unsafe { self.pool.reallocate(self.start, old, size, 64) }.expect("room");
        self.size = old.min(size);
        assert!(self.bytes().iter().all(|found| *found == byte), "the bytes came along");
        // SAFETY: the allocation has as many bytes now.
        unsafe { self.start.write_bytes(byte, size) };
        self.size = size;
    }

    fn is_pinned(&self, context: &Context) -> bool {
        let current = context.enter().expect("alive");
        let last = (self.address() + self.size - 1) as u64;
        let known = current.attribute_if_known(Attribute::DevicePointer, last);
        known.expect("an answer").is_some()
    }
}

impl Drop for Filled<'_> {
    fn drop(&mut self) {
        assert!(self.bytes().iter().all(|found| *found == self.byte), "nobody else has written");
        // SAFETY: allocated with that size, and not used afterwards.
        unsafe { self.pool.release(self.start, self.size) };
    }
}

#[test]
fn small_allocations_share_blocks() {
    let (_guard, context) = alone();
    let (pool, before) = (HostPool::of(&context), pinned_memory_stats().expect("bookkeeping"));
    let many: Vec<Filled> = (0..10_000).map(|at| Filled::new(pool, 100, at as u8)).collect();
    let after = pinned_memory_stats().expect("bookkeeping");
    assert_eq!(after.driver_allocations - before.driver_allocations, 1);
    assert_eq!(after.reserved_bytes - before.reserved_bytes, 2 << 20);
    assert!(many.iter().all(|one| one.is_pinned(&context)));
    let addresses: HashSet<usize> = many.iter().map(Filled::address).collect();
    assert_eq!(addresses.len(), many.len());
}

#[test]
fn a_large_allocation_is_a_block_of_its_own() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    let large = Filled::new(pool, 33 * MIB, 1);
    assert!(large.is_pinned(&context));
    let address = large.address();
    drop(large);
    assert_eq!(pinned_memory_stats().expect("bookkeeping").cached_bytes, 36 << 20);
    assert_eq!(Filled::new(pool, 34 * MIB, 2).address(), address, "it is cached");
    pool.release_unused();
    assert_eq!(pinned_memory_stats().expect("bookkeeping").cached_bytes, 0);
}

#[test]
fn every_pool_of_a_context_is_the_same() {
    let (_guard, context) = alone();
    let again = Context::primary(0).expect("a device");
    assert!(std::ptr::eq(HostPool::of(&context), HostPool::of(&again)));
    assert!(HostPool::of(&context).context().is_same(&context));
}

#[test]
fn memory_grows_and_shrinks() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    let mut one = Filled::new(pool, 1, 7);
    let start = one.address();
    one.resize(64);
    one.resize(100_000);
    assert_eq!(one.address(), start, "nothing is behind it");
    let behind = Filled::new(pool, 64, 8);
    for size in [200_000, 5 * MIB, 33 * MIB, 36 * MIB, 34 * MIB, 5 * MIB, 3, 4 * MIB, 4 * MIB + 1] {
        one.resize(size);
    }
    let mut large = Filled::new(pool, 33 * MIB, 9);
    let start = large.address();
    large.resize(36 * MIB);
    large.resize(28 * MIB);
    assert_eq!(large.address(), start, "within its block");
    large.resize(10 * MIB);
    assert_ne!(large.address(), start, "most of the block would be unused");
    drop(behind);
}

#[test]
fn memory_is_aligned_as_asked() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    for power in 0..=21 {
        let alignment = 1 << power;
        for size in [1, 5000, 5 * MIB] {
            let start = pool.allocate(size, alignment).expect("room");
            assert_eq!(start.addr().get() % alignment, 0);
            // SAFETY: allocated above, and not used.
            unsafe { pool.release(start, size) };
        }
    }
}

#[test]
fn released_memory_waits_for_the_work_in_flight() {
    let (_guard, context) = alone();
    if !is_simulated().expect("a driver") {
        return; // a driver may wait for the stream before it pins memory
    }
    let pool = HostPool::of(&context);
    let fill = || Filled::new(pool, 2 * MIB, 3);
    let first = fill().address();
    assert_eq!(fill().address(), first, "nothing is in flight");
    let gate = Gate::on_default_stream(&context);
    let others: Vec<usize> = (0..2).map(|_| fill().address()).collect();
    assert!(others.iter().skip(1).all(|other| *other != others[0]), "work may use the first");
    drop(gate);
    context.synchronize().expect("alive");
    assert!(others.contains(&fill().address()) || first == fill().address());
}

#[test]
fn threads_share_it() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    let work = |seed: usize| {
        let mut held: Vec<Filled> = Vec::new();
        let mut number = seed * 7919 + 1;
        for _ in 0..2000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            let size = 1 + (number >> 33) % [100, 5000, 300_000][(number >> 20) % 3];
            match held.len() {
                20.. => drop(held.swap_remove((number >> 40) % 20)),
                3.. if number.is_multiple_of(5) => held[0].resize(size),
                _ => held.push(Filled::new(pool, size, number as u8)),
            }
        }
    };
    thread::scope(|scope| {
        (0..6).for_each(|seed| drop(scope.spawn(move || work(seed))));
    });
    pool.release_unused();
    empty_pinned_cache().expect("alive");
    assert_eq!(pinned_memory_stats().expect("bookkeeping").allocated_bytes, 0, "nothing is lost");
}

#[test]
fn what_exceeds_the_limit_is_freed_on_another_thread() {
    let (_guard, context) = alone();
    set_pinned_cache_limit(0).expect("alive");
    let before = pinned_memory_stats().expect("bookkeeping");
    drop(Filled::new(HostPool::of(&context), 5 * MIB, 1));
    while pinned_memory_stats().expect("bookkeeping").driver_frees == before.driver_frees {
        thread::yield_now();
    }
    assert_eq!(pinned_memory_stats().expect("bookkeeping").reserved_bytes, before.reserved_bytes);
}

#[test]
fn what_cannot_be_pinned_is_refused() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    for size in [1 << 46, usize::MAX - 4096, usize::MAX] {
        let error = pool.allocate(size, 64).expect_err("no machine has that");
        assert!(error.is_out_of_memory(), "{error}");
    }
    let kept = Filled::new(pool, 100, 5);
    // SAFETY: allocated with that size, and still used because this fails.
    let refused = unsafe { pool.reallocate(kept.start, kept.size, 1 << 46, 64) };
    assert!(refused.is_err());
}

/// A context of another library, on the first device.
fn their_context() -> (Context, *mut c_void) {
    let mut handle: *mut c_void = std::ptr::null_mut();
    Context::primary(0).expect("a device");
    // SAFETY: stores a handle through the pointer; the new context is current, and popped.
    unsafe {
        call!(cuCtxCreate_v2((&raw mut handle).cast(), 0, 0)).expect("a context");
        let mut popped: *mut c_void = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2((&raw mut popped).cast())).expect("the new one");
    }
    (Context::borrowed(0, handle as usize).expect("alive"), handle)
}

fn allocated(pool: &HostPool, size: usize) -> CudaResult<NonNull<u8>> {
    pool.allocate(size, 64)
}

#[test]
fn memory_outlives_its_context() {
    let (_guard, _) = alone();
    let reserved = pinned_memory_stats().expect("bookkeeping").reserved_bytes;
    let (context, handle) = their_context();
    let pool = HostPool::of(&context);
    let mut held = [Filled::new(pool, 100, 1), Filled::new(pool, 5 * MIB, 2)];
    // SAFETY: made above, and destroyed once.
    unsafe { call!(cuCtxDestroy_v2(handle)) }.expect("alive");
    for one in &mut held {
        assert!(one.bytes().iter().all(|byte| *byte == one.byte), "it can be read");
    }
    assert_eq!(allocated(pool, 8 * MIB).expect_err("it is gone").code(), Some(201));
    assert_eq!(allocated(pool, 1).expect_err("found above").code(), Some(201));
    drop(held);
    pool.release_unused();
    while pinned_memory_stats().expect("bookkeeping").reserved_bytes != reserved {
        thread::yield_now(); // while the other thread unmaps it
    }
}

#[test]
fn memory_outlives_a_reset() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    drop(Filled::new(pool, 6 * MIB, 1)); // cached
    let held = [Filled::new(pool, 100, 1), Filled::new(pool, 5 * MIB, 2)];
    assert!(held.iter().all(|one| one.is_pinned(&context)));
    // SAFETY: takes no pointer.
    unsafe { call!(cuDevicePrimaryCtxReset_v2(0)) }.expect("a device");
    assert_eq!(allocated(pool, 8 * MIB).expect_err("it is gone").code(), Some(201));
    let new = Context::primary(0).expect("a device");
    assert!(held.iter().all(|one| !one.is_pinned(&new)), "ordinary memory now");
    let other = HostPool::of(&new);
    assert!(!std::ptr::eq(pool, other));
    assert!(Filled::new(other, 100, 3).is_pinned(&new));
    drop(held);
    pool.release_unused();
    other.release_unused();
    while pinned_memory_stats().expect("bookkeeping").reserved_bytes > 0 {
        thread::yield_now();
    }
}

#[test]
fn a_forked_child_reads_and_writes_what_there_is() {
    let (_guard, context) = alone();
    let pool = HostPool::of(&context);
    let (small, large) = (Filled::new(pool, 100, 1), Filled::new(pool, 5 * MIB, 2));
    let work = || {
        let is_refused = allocated(pool, 100).is_err_and(|error| error.code() == Some(3));
        // Both are checked, and released: that does nothing.
        drop((small, large));
        pool.release_unused();
        7 - i32::from(!is_refused)
    };
    // SAFETY: the child only runs `work`, and is ended by a signal should that hang.
    let status = unsafe {
        let child = libc::fork();
        assert!(child >= 0, "a process");
        if child == 0 {
            libc::alarm(10);
            libc::_exit(work());
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        status
    };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "{status}");
}
