//! Released memory: when it is reused, by which requests, and how it goes back to the driver.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{
    Block, Context, MemoryStats, Placement, Stream, is_released, prepare_sharing, retain_exported,
};
use arrow_cuda_driver::{call, is_simulated};
use common::Gate;
use rstest::rstest;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const BLOCKING: u32 = 0;
const NON_BLOCKING: u32 = 1;
const MIB: u64 = 1 << 20;

/// The whole process shares the cache: one test at a time, each with an empty cache.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    context.empty_cache().expect("alive");
    context.set_cache_limit(512 * MIB).expect("alive");
    (guard, context)
}

fn allocate(context: &Context, size: u64) -> Block {
    context.allocate(size, Placement::Alone).expect("room")
}

fn stats(context: &Context) -> MemoryStats {
    context.memory_stats().expect("alive")
}

#[test]
fn released_memory_is_reused() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let block = allocate(&context, 64 * MIB);
    let address = block.address();
    assert!(!is_released(address));
    drop(block);
    assert!(is_released(address) && is_released(address + 64 * MIB - 1));
    assert_eq!(stats(&context).cached_bytes, 64 * MIB);
    for _ in 0..100 {
        // A slightly smaller request reuses the same block.
        let block = allocate(&context, 63 * MIB + 5);
        assert_eq!((block.address(), block.size()), (address, 63 * MIB + 5));
        assert!(block.is_alone() && !is_released(address));
    }
    let after = stats(&context);
    assert_eq!(after.driver_allocations - before.driver_allocations, 1);
    assert_eq!(after.cache_hits - before.cache_hits, 100);
    assert_eq!(after.cache_misses - before.cache_misses, 1);
    assert_ne!(allocate(&context, 33 * MIB).address(), address, "far too large for it");
    assert_eq!(context.empty_cache().expect("alive"), 64 * MIB + 34 * MIB);
    assert!(!is_released(address), "the driver has freed it");
    assert_eq!((stats(&context).cached_bytes, stats(&context).cached_blocks), (0, 0));
}

#[test]
fn blocks_alone_and_packed_blocks_are_cached_separately() {
    let (_guard, context) = alone();
    let packed = context.allocate(1000, Placement::Packed).expect("room");
    let address = packed.address();
    drop(packed);
    let alone = allocate(&context, 1000);
    assert!(alone.is_alone() && alone.address() != address);
    let again = context.allocate(900, Placement::Packed).expect("room");
    assert!(!again.is_alone());
    assert_eq!(again.address(), address);
}

#[test]
fn memory_in_flight_is_not_reused() {
    let (_guard, context) = alone();
    let block = allocate(&context, 4 * MIB);
    let address = block.address();
    let gate = Gate::on_default_stream(&context);
    drop(block);
    let others: Vec<_> = (0..5).map(|_| allocate(&context, 4 * MIB)).collect();
    assert!(others.iter().all(|other| other.address() != address));
    drop(others);
    gate.open();
    context.synchronize().expect("alive");
    let block = allocate(&context, 4 * MIB);
    assert!(stats(&context).cached_blocks >= 5, "one of those that were released");
    drop(block);
}

#[test]
fn memory_released_before_a_completed_fence_is_reused() {
    let (_guard, context) = alone();
    let (early, late) = (allocate(&context, 4 * MIB), allocate(&context, 4 * MIB));
    let (early_at, late_at) = (early.address(), late.address());
    let first = Gate::on_default_stream(&context);
    drop(early);
    drop(allocate(&context, 4 * MIB)); // records the fence
    let second = Gate::on_default_stream(&context);
    drop(late);
    first.open();
    // The default stream is busy with the second piece of work all the time.
    let mut found = allocate(&context, 4 * MIB);
    for _ in 0..1000 {
        if found.address() == early_at {
            break;
        }
        assert_ne!(found.address(), late_at);
        thread::sleep(Duration::from_millis(1));
        found = allocate(&context, 4 * MIB);
    }
    assert_eq!(found.address(), early_at);
    drop(second);
    context.synchronize().expect("alive");
}

#[rstest]
fn fences_cover_work_on_any_stream(#[values(BLOCKING, NON_BLOCKING)] flags: u32) {
    let (_guard, context) = alone();
    let stream = Stream::with_flags(&context, flags).expect("room");
    let block = allocate(&context, 4 * MIB);
    let address = block.address();
    let gate = Gate::on(&stream);
    drop(block);
    let other = allocate(&context, 4 * MIB);
    assert_ne!(other.address(), address);
    gate.open();
    context.synchronize().expect("alive");
    assert_eq!(allocate(&context, 4 * MIB).address(), address);
}

#[test]
fn lent_memory_is_freed_at_release() {
    let (_guard, context) = alone();
    let before = stats(&context).driver_frees;
    let block = allocate(&context, 4 * MIB);
    let current = context.enter().expect("alive");
    prepare_sharing(&current, block.address() + 4 * MIB - 1).expect("alive");
    drop(block);
    assert_eq!(stats(&context).driver_frees - before, 1);
    assert_eq!(stats(&context).cached_blocks, 0);
    // Freeing the block removes the mark.
    drop(allocate(&context, 4 * MIB));
    assert_eq!(stats(&context).cached_blocks, 1);
}

#[test]
fn exported_memory_is_not_cached() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let block = allocate(&context, 4 * MIB);
    retain_exported(block.address());
    drop(block);
    context.empty_cache().expect("alive");
    let after = stats(&context);
    assert_eq!((after.cached_blocks, after.driver_frees), (0, before.driver_frees));
    assert_eq!(after.reserved_bytes, before.reserved_bytes + 4 * MIB);
    assert_eq!(after.allocated_bytes, before.allocated_bytes + 4 * MIB);
}

#[test]
fn the_cache_respects_its_limit() {
    let (_guard, context) = alone();
    context.set_cache_limit(8 * MIB).expect("alive");
    let blocks: Vec<_> = (0..4).map(|_| allocate(&context, 4 * MIB)).collect();
    let addresses: Vec<_> = blocks.iter().map(Block::address).collect();
    for block in blocks {
        drop(block);
    }
    let still_cached: Vec<_> = addresses.iter().map(|at| is_released(*at)).collect();
    assert_eq!(still_cached, [false, false, true, true], "the first released are evicted first");
    drop(allocate(&context, 9 * MIB));
    assert_eq!(stats(&context).cached_bytes, 8 * MIB, "a block above the limit evicts nothing");
    context.set_cache_limit(5 * MIB).expect("alive");
    assert_eq!((stats(&context).cached_bytes, stats(&context).cache_limit), (4 * MIB, 5 * MIB));
    context.set_cache_limit(0).expect("alive");
    let before = stats(&context).driver_frees;
    drop(allocate(&context, 4 * MIB));
    let after = stats(&context);
    assert_eq!((after.cached_bytes, after.driver_frees), (0, before + 1));
}

#[test]
fn cached_memory_is_reclaimed_when_memory_runs_out() {
    let (_guard, context) = alone();
    let total = context.device().total_memory().expect("a device");
    context.set_cache_limit(total).expect("alive");
    let most = context.free_memory().expect("alive") / 8 * 5;
    drop(allocate(&context, most));
    assert!(stats(&context).cached_bytes >= most);
    let before = stats(&context).out_of_memory_retries;
    // Another size, for which there is no room beside the cached blocks.
    let block = allocate(&context, most / 8 * 7 - 16 * MIB);
    assert_eq!(stats(&context).out_of_memory_retries, before + 1);
    let error = context.allocate(total, Placement::Alone).expect_err("no room");
    assert!(error.is_out_of_memory());
    drop(block);
    context.empty_cache().expect("alive");
}

#[test]
fn slack_is_that_of_blocks_in_use() {
    let (_guard, context) = alone();
    let total = context.device().total_memory().expect("a device");
    let most = usize::try_from(total / 32 / (2 * MIB)).expect("few");
    for _ in 0..2 {
        let count = |blocks: &[Block]| blocks.iter().filter(|block| block.is_alone()).count();
        let many: Vec<_> = (0..most + 50).map(|_| allocate(&context, 16)).collect();
        assert!(count(&many) >= most && count(&many) < most + 50, "{} of {most}", count(&many));
        // Cached blocks count as cached; their slack is available to others.
    }
    context.empty_cache().expect("alive");
}

#[test]
fn peaks_are_remembered() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let block = allocate(&context, before.peak_allocated_bytes + 100 * MIB);
    let size = block.size();
    drop(block);
    let after = stats(&context);
    assert!(after.peak_allocated_bytes >= size && after.peak_reserved_bytes >= size);
    assert_eq!(after.allocated_bytes, before.allocated_bytes);
}

#[test]
fn threads_share_the_cache() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let in_use = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let threads: Vec<_> = (0..4u64)
        .map(|seed| {
            let (context, in_use) = (context.clone(), Arc::clone(&in_use));
            thread::spawn(move || {
                let mut held: Vec<Block> = Vec::new();
                for step in 0..2000u64 {
                    let draw = (step + 1).wrapping_mul(seed * 2 + 0x9e37_79b9_7f4a_7c15) >> 40;
                    if held.len() > 8 || draw.is_multiple_of(3) && !held.is_empty() {
                        let at = usize::try_from(draw).expect("small") % held.len();
                        let block = held.swap_remove(at);
                        assert!(in_use.lock().expect("no panic").remove(&block.address()));
                        drop(block);
                    } else {
                        let placement = [Placement::Alone, Placement::Packed][(draw % 2) as usize];
                        let size = draw % (3 * MIB) + 1;
                        let block = context.allocate(size, placement).expect("room");
                        let is_new = in_use.lock().expect("no panic").insert(block.address());
                        assert!(is_new, "handed out twice");
                        held.push(block);
                    }
                    if step % 500 == seed {
                        context.empty_cache().expect("alive");
                    }
                }
                for block in held {
                    in_use.lock().expect("no panic").remove(&block.address());
                    drop(block);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(context.bytes_allocated().expect("alive"), before.allocated_bytes);
    context.empty_cache().expect("alive");
    let after = stats(&context);
    assert_eq!(after.reserved_bytes, before.reserved_bytes);
    assert_eq!(
        after.driver_allocations - before.driver_allocations,
        after.driver_frees - before.driver_frees
    );
}

#[test]
fn borrowed_contexts_cache_nothing() {
    let (_guard, context) = alone();
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer; the new context is current, and popped.
    unsafe {
        call!(cuCtxCreate_v2((&raw mut handle).cast(), 0, 0)).expect("a context");
        let mut popped: *mut c_void = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2((&raw mut popped).cast())).expect("the new one");
    }
    let theirs = Context::borrowed(0, handle as usize).expect("alive");
    drop(allocate(&theirs, 4 * MIB));
    let after = stats(&theirs);
    assert_eq!((after.cached_bytes, after.cache_limit, after.reserved_bytes), (0, 0, 0));
    // An allocation in a borrowed context reclaims the primary context's cache, too.
    if is_simulated().expect("a driver") {
        let total = context.device().total_memory().expect("a device");
        context.set_cache_limit(total).expect("alive");
        drop(allocate(&context, total / 8 * 5));
        drop(allocate(&theirs, total / 8 * 4));
        assert_eq!(stats(&context).cached_bytes, 0);
    }
    drop(theirs);
    // SAFETY: destroyed once, by its maker.
    unsafe { call!(cuCtxDestroy_v2(handle)) }.expect("alive");
}

#[test]
fn a_borrowed_context_that_becomes_the_primary_one_keeps_its_ledger() {
    let (_guard, context) = alone();
    let same = Context::borrowed(0, context.handle()).expect("alive");
    assert!(same.is_primary());
    drop(allocate(&same, 4 * MIB));
    assert_eq!(stats(&context).cached_bytes, 4 * MIB);
}
