//! A device that somebody resets: its next context has the same handle and, on hardware, the same
//! addresses.

use arrow_cuda_context::{Block, Context, Placement, block_at, is_released};
use arrow_cuda_driver::call;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reset() {
    // SAFETY: takes no pointer.
    unsafe { call!(cuDevicePrimaryCtxReset_v2(0)) }.expect("a device");
}

fn allocate(context: &Context, count: usize) -> Vec<Block> {
    let one = |_| context.allocate(4 << 20, Placement::Alone).expect("room");
    (0..count).map(one).collect()
}

#[test]
fn memory_of_a_dead_context_is_neither_reused_nor_freed() {
    let _guard = one_at_a_time();
    let old = Context::primary(0).expect("a device");
    let mut held = allocate(&old, 6);
    held.truncate(3);
    let addresses: Vec<_> = held.iter().map(Block::address).collect();
    assert_eq!(old.memory_stats().expect("alive").cached_blocks, 3);
    let frees = old.memory_stats().expect("alive").driver_frees;

    reset();
    // Released after the reset, before this process has detected it.
    held.truncate(2);
    old.allocate(4 << 20, Placement::Alone).expect_err("its context is gone");

    let new = Context::primary(0).expect("a device");
    assert!(old.enter().expect_err("reset").is_context_gone() && !new.is_same(&old));
    for address in addresses {
        assert!(!is_released(address), "others may have the address by now");
        assert_eq!(block_at(address, address), None);
    }
    let blocks = allocate(&new, 10);
    drop(held);
    assert!(blocks.iter().all(|block| block_at(block.address(), block.address()).is_some()));
    let stats = old.memory_stats().expect("bookkeeping");
    assert_eq!((stats.cached_blocks, stats.driver_frees), (0, frees));
    assert_eq!(old.empty_cache().expect("nothing to do"), 0);
    drop(blocks);
    assert_eq!(new.memory_stats().expect("alive").cached_blocks, 10);
    assert_eq!(new.bytes_allocated().expect("alive"), 0);
    // Stale contexts give an error, not memory of the next one.
    let error = old.allocate(4 << 20, Placement::Alone).expect_err("gone");
    assert_eq!(error.code(), Some(201));
    assert_eq!(new.empty_cache().expect("alive"), 40 << 20);
}

#[test]
fn the_next_context_has_the_same_handle() {
    let _guard = one_at_a_time();
    let old = Context::primary(0).expect("a device");
    let held = allocate(&old, 3);
    drop(allocate(&old, 2));
    reset();
    // Another library retains it, before this process has detected the reset.
    let mut handle: *mut std::ffi::c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer.
    unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut handle).cast(), 0)) }.expect("a device");
    assert_eq!(handle as usize, old.handle());
    let error = old.allocate(4 << 20, Placement::Alone).expect_err("it is another one");
    assert_eq!(error.code(), Some(201));
    drop(held);
    assert_eq!(old.memory_stats().expect("bookkeeping").cached_blocks, 0);
    // SAFETY: undoes the retain above.
    unsafe { call!(cuDevicePrimaryCtxRelease_v2(0)) }.expect("a device");
}

#[test]
fn cached_memory_of_a_dead_context_is_not_freed() {
    let _guard = one_at_a_time();
    let old = Context::primary(0).expect("a device");
    let held = allocate(&old, 2);
    drop(allocate(&old, 2));
    let frees = old.memory_stats().expect("alive").driver_frees;
    reset();
    assert_eq!(old.empty_cache().expect("nothing to do"), 0);
    drop(held);
    old.set_cache_limit(0).expect("nothing to do");
    assert_eq!(old.memory_stats().expect("bookkeeping").driver_frees, frees);
}
