//! The pool of pinned memory for many allocations: alignment, sizes that change, and what outlives what.

use super::common::{destroy, their_context};
use super::{alone, await_that};
use arrow_cuda_context::{Attribute, Cache, Context, HostPool};
use arrow_cuda_driver::call;
use std::ptr::NonNull;

const MIB: usize = 1 << 20;

/// An allocation, filled with a byte, which it has to hold until it is released.
struct Filled<'a> {
    pool: &'a HostPool,
    start: NonNull<u8>,
    size: usize,
    byte: u8,
}

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
        unsafe { self.pool.release(self.start) };
    }
}

fn reserved() -> u64 {
    Cache::Pinned.stats().expect("bookkeeping").reserved_bytes
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
    let mut large = Filled::new(pool, 34 * MIB, 9);
    let start = large.address();
    large.resize(20 * MIB);
    assert_eq!(large.address(), start, "within its block");
    large.resize(10 * MIB);
    assert_ne!(large.address(), start, "a smaller block is for that");
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
            unsafe { pool.release(start) };
        }
    }
}

#[test]
fn memory_outlives_its_context() {
    let (_guard, _) = alone();
    let before = reserved();
    let (context, handle) = their_context();
    let pool = HostPool::of(&context);
    let held = [Filled::new(pool, 100, 1), Filled::new(pool, 5 * MIB, 2)];
    destroy(handle);
    assert_eq!(pool.allocate(8 * MIB, 64).expect_err("it is gone").code(), Some(201));
    assert_eq!(pool.allocate(1, 64).expect_err("found above").code(), Some(201));
    drop(held);
    pool.release_unused();
    await_that(|| reserved() == before);
}

#[test]
fn memory_outlives_a_reset() {
    let (_guard, context) = alone();
    let before = reserved();
    let pool = HostPool::of(&context);
    drop(Filled::new(pool, 6 * MIB, 1)); // cached
    let held = [Filled::new(pool, 100, 1), Filled::new(pool, 5 * MIB, 2)];
    assert!(held.iter().all(|one| one.is_pinned(&context)));
    // SAFETY: takes no pointer.
    unsafe { call!(cuDevicePrimaryCtxReset_v2(0)) }.expect("a device");
    assert_eq!(pool.allocate(8 * MIB, 64).expect_err("it is gone").code(), Some(201));
    let new = Context::primary(0).expect("a device");
    assert!(held.iter().all(|one| !one.is_pinned(&new)), "ordinary memory now");
    let other = HostPool::of(&new);
    assert!(std::ptr::eq(pool, HostPool::of(&context)) && !std::ptr::eq(pool, other));
    assert!(pool.context().is_same(&context));
    assert!(Filled::new(other, 100, 3).is_pinned(&new));
    drop(held);
    pool.release_unused();
    other.release_unused();
    await_that(|| reserved() == before);
}
