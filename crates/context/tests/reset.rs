//! A device that somebody resets: its next context has the same handle, and its memory the same addresses.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{
    Block, Cache, Consumer, Context, Device, Extension, MemoryStats, Placement, Ready, block_at,
    is_released, prepare_sharing,
};
use arrow_cuda_driver::{CudaError, call};
use common::{alone, destroy, their_context};
use simulator::with_settings;
use std::ffi::c_void;

fn reset() {
    // SAFETY: takes no pointer.
    unsafe { call!(cuDevicePrimaryCtxReset_v2(0)) }.expect("a device");
}

fn allocate(context: &Context, count: usize) -> Vec<Block> {
    let one = |_| Block::allocate(context, 32 << 20, Placement::Alone).expect("room");
    (0..count).map(one).collect()
}

/// One code for a context that is gone, not memory of the next one.
fn assert_gone(context: &Context) {
    let error =
        Block::allocate(context, 32 << 20, Placement::Alone).expect_err("its context is gone");
    assert_eq!(error.code(), Some(201), "{error}");
}

fn stats(context: &Context) -> MemoryStats {
    context.cache().stats().expect("bookkeeping")
}

#[test]
fn memory_of_a_dead_context_is_neither_reused_nor_freed() {
    let (_alone, old) = alone();
    let mut held = allocate(&old, 6);
    held.truncate(3);
    let addresses: Vec<_> = held.iter().map(|it| it.address(&Ready::by_caller())).collect();
    assert_eq!(stats(&old).cached_blocks, 3);
    let frees = stats(&old).driver_frees;

    reset();
    // Released after the reset, before this process has detected it.
    held.truncate(2);
    assert_gone(&old);

    let new = Context::primary(0).expect("a device");
    assert!(old.enter().expect_err("reset").is_context_gone() && !new.is_same(&old));
    for address in addresses {
        assert!(!is_released(address), "others may have the address by now");
        assert_eq!(block_at(address, address), None);
    }
    let blocks = allocate(&new, 10);
    drop(held);
    let is_known = |at: u64| block_at(at, at).is_some();
    assert!(blocks.iter().map(Block::private_address).all(is_known));
    assert_eq!((stats(&old).cached_blocks, stats(&old).driver_frees), (0, frees));
    assert_eq!(old.cache().empty().expect("nothing to do"), 0);
    drop(blocks);
    assert_eq!(stats(&new).cached_blocks, 10);
    assert_eq!(new.bytes_allocated().expect("alive"), 0);
    assert_gone(&old);
    assert_eq!(new.cache().empty().expect("alive"), 320 << 20);
}

#[test]
fn the_next_context_has_the_same_handle() {
    let (_alone, old) = alone();
    let held = allocate(&old, 3);
    drop(allocate(&old, 2));
    reset();
    // As another library makes it, while nobody here has noticed.
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer.
    unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut handle).cast(), 0)) }.expect("a device");
    assert_eq!(handle as usize, old.handle());
    assert_gone(&old);
    drop(held);
    assert_eq!(stats(&old).cached_blocks, 0);
    // SAFETY: undoes the retain above.
    unsafe { call!(cuDevicePrimaryCtxRelease_v2(0)) }.expect("a device");
}

#[test]
fn no_thread_keeps_the_dead_context_current_after_a_reset_of_its_own() {
    let (_alone, old) = alone();
    old.make_current().expect("alive");
    // SAFETY: nobody else uses it.
    unsafe { old.device().reset() }.expect("a device");
    assert_eq!(old.make_current().expect_err("gone").code(), Some(201));
    assert_eq!(Device::current().expect("a driver"), None);
    let new = Context::primary(0).expect("a device");
    assert_eq!(allocate(&new, 1).len(), 1);
    assert_eq!(Device::current().expect("a driver"), None, "left as it was");
    new.make_current().expect("alive");
    assert_eq!(Device::current().expect("a driver"), Some(new.device()));
    // SAFETY: null stands for no context.
    unsafe { call!(cuCtxSetCurrent(std::ptr::null_mut())) }.expect("a driver");
}

#[test]
fn cached_memory_of_a_dead_context_is_not_freed() {
    let (_alone, old) = alone();
    let held = allocate(&old, 2);
    drop(allocate(&old, 2));
    let frees = stats(&old).driver_frees;
    reset();
    assert_eq!(old.cache().empty().expect("nothing to do"), 0);
    drop(held);
    old.cache().set_limit(0).expect("nothing to do");
    assert_eq!(stats(&old).driver_frees, frees);
}

/// The first byte of a block of host memory.
fn byte_of(block: &Block) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(block.private_address() as usize)
}

#[test]
fn pinned_memory_outlives_its_context_and_is_not_reused() {
    let (_alone, old) = alone();
    let held = Block::allocate_pinned(&old, 32 << 20).expect("room");
    // SAFETY: a block of host memory, which nobody else has.
    unsafe { byte_of(&held).write(7) };
    let exposed =
        Block::allocate_pinned(&old, 32 << 20).expect("room").address(&Ready::by_caller());
    let stats = || Cache::Pinned.stats().expect("bookkeeping");
    let before = stats();
    assert_eq!((before.cached_blocks, before.allocated_bytes), (1, 32 << 20));
    reset();
    // Nobody here has noticed, and another library may have the addresses by now.
    assert!(!is_released(exposed));
    assert_eq!(block_at(held.private_address(), held.private_address()), None);
    assert_eq!(Block::allocate_pinned(&old, 32 << 20).expect_err("gone").code(), Some(201));
    let after = stats();
    let left = (after.cached_blocks, after.allocated_bytes, after.reserved_bytes);
    assert_eq!(left, (0, 32 << 20, 32 << 20));
    let new = Context::primary(0).expect("a device");
    let block = Block::allocate_pinned(&new, 32 << 20).expect("room");
    assert_ne!(block.private_address(), held.private_address());
    // SAFETY: as above; the block lives.
    assert_eq!(unsafe { byte_of(&held).read() }, 7);
    drop(held);
    assert_eq!((stats().cached_blocks, stats().reserved_bytes), (0, 32 << 20), "it is unmapped");
    assert_eq!(stats().cache_hits, before.cache_hits);
    drop(block);
    assert_eq!(Cache::Pinned.empty().expect("alive"), 32 << 20);
}

#[test]
fn cached_pinned_memory_of_a_dead_context_is_not_freed() {
    let (_alone, old) = alone();
    drop(Block::allocate_pinned(&old, 1 << 20).expect("room"));
    reset();
    assert_eq!(Cache::Pinned.empty().expect("nothing to do"), 0);
    assert_eq!(Cache::Pinned.stats().expect("bookkeeping").reserved_bytes, 0);
}

#[test]
fn memory_of_a_context_that_was_reset_is_not_wiped() {
    let (_alone, old) = alone();
    let (theirs, handle) = their_context();
    drop(allocate(&old, 1));
    let hits = stats(&old).cache_hits;
    let reused = Block::allocate(&old, (32 << 20) - 4096, Placement::Alone).expect("room");
    let address = reused.address(&Ready::by_caller());
    assert_eq!(stats(&old).cache_hits, hits + 1);
    reset();
    // Nobody here has noticed, and another library may have the address by now.
    let current = theirs.enter().expect("alive");
    prepare_sharing(&current, address).expect("nothing of ours is there to be wiped");
    assert_eq!(block_at(address, address), None);
    drop(current);
    drop(reused);
    destroy(handle);
}

#[test]
fn blocks_of_a_context_that_was_destroyed_are_not_found() {
    let (_alone, _) = alone();
    let (theirs, handle) = their_context();
    let held = Block::allocate(&theirs, 32 << 20, Placement::Alone).expect("room");
    assert!(block_at(held.private_address(), held.private_address()).is_some());
    destroy(handle);
    assert_eq!(block_at(held.private_address(), held.private_address()), None);
}

#[test]
fn a_lost_context_is_abandoned_also_when_there_is_no_other() {
    with_settings(&[("CUDA_SIM_FAULT", "cuDevicePrimaryCtxRetain:2=2")], || {
        let old = Context::primary(0).expect("a device");
        drop(allocate(&old, 2));
        reset();
        assert_eq!(Context::primary(0).expect_err("the fault").code(), Some(2));
        assert_eq!(stats(&old).cached_blocks, 0);
    });
}

struct Kernel;

impl Extension for Kernel {}

#[test]
fn the_next_context_has_nothing_of_the_lost_one_on_older_drivers() {
    with_settings(&[("CUDA_SIM_FAULT", "cuCtxGetId:1+=500")], || {
        let old = Context::primary(0).expect("a device");
        assert!(!old.is_numbered());
        old.extension_or(|| Ok::<_, CudaError>(Kernel)).map(drop).expect("room");
        reset();
        let new = Context::primary(0).expect("a device");
        assert!(new.extension::<Kernel>().is_none(), "it went with its context");
    });
}

#[test]
fn no_consumer_gets_memory_of_a_context_that_was_reset() {
    let (_alone, old) = alone();
    let consumers = [
        Consumer::OnDefaultStream,
        Consumer::OnOtherStream,
        Consumer::AfterEvent,
        Consumer::Unknown,
        Consumer::InOtherProcess,
    ];
    for consumer in consumers {
        drop(old.make_ready_for(consumer, &[]).expect("alive"));
    }
    reset();
    for consumer in consumers {
        let error = old.make_ready_for(consumer, &[]).expect_err("reset");
        assert!(error.is_context_gone(), "{consumer:?}: {error}");
    }
}
