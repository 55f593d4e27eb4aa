//! Released memory: when it is reused, by which requests, and how it goes back to the driver.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

#[path = "common/calls.rs"]
mod calls;
mod common;

use arrow_cuda_context::{
    Block, Context, MemoryStats, Placement, Stream, is_released, prepare_sharing, retain_exported,
};
use arrow_cuda_driver::{call, is_simulated};
use calls::count_of;
use common::Gate;
use rstest::rstest;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

const BLOCKING: u32 = 0;
const NON_BLOCKING: u32 = 1;
const MIB: u64 = 1 << 20;
/// Blocks of this size have segments of their own.
const LARGE: u64 = 32 * MIB;

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

/// All memory that the device had left, allocated past the cache.
struct Filling(Vec<u64>);

fn fill(context: &Context) -> Filling {
    let current = context.enter().expect("alive");
    let mut size = context.free_memory().expect("alive");
    let mut taken = Vec::new();
    while size > 0 {
        match current.allocate_memory(size) {
            Ok(address) => taken.push(address),
            Err(_) => size /= 2,
        }
    }
    Filling(taken)
}

impl Filling {
    fn release(self, context: &Context) {
        let current = context.enter().expect("alive");
        for address in self.0 {
            // SAFETY: allocated by `fill`, and released once.
            unsafe { current.release_memory(address) }.expect("alive");
        }
    }
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
        assert!(!is_released(address));
    }
    let after = stats(&context);
    assert_eq!(after.driver_allocations - before.driver_allocations, 1);
    assert_eq!(after.cache_hits - before.cache_hits, 100);
    assert_eq!(after.cache_misses - before.cache_misses, 1);

    assert_eq!(context.empty_cache().expect("alive"), 64 * MIB);
    assert!(!is_released(address), "the driver has freed it");
    assert_eq!((stats(&context).cached_bytes, stats(&context).cached_blocks), (0, 0));
}

#[test]
fn memory_that_nobody_else_has_seen_serves_at_once() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let gate = Gate::on_default_stream(&context);
    let mut addresses = (0..100).map(|_| allocate(&context, LARGE).private_address());
    let first = addresses.next().expect("one");
    assert!(addresses.all(|address| address == first));
    assert_eq!(stats(&context).driver_allocations - before.driver_allocations, 1);
    gate.open();
}

#[test]
fn small_blocks_share_segments() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let packed = |_| context.allocate(1000, Placement::Packed).expect("room");
    let many: Vec<_> = (0..1000).map(packed).collect();
    assert_eq!(stats(&context).reserved_bytes - before.reserved_bytes, 2 * MIB);
    drop(many);
    assert_eq!(stats(&context).cached_bytes, 2 * MIB);
    // Those that may be exported have segments of their own, but no more than a few.
    let many: Vec<_> = (0..1000).map(|_| allocate(&context, 1000)).collect();
    let reserved = stats(&context).reserved_bytes - before.reserved_bytes;
    assert!((40 * MIB..=60 * MIB).contains(&reserved), "{reserved}");
    let segments: std::collections::BTreeSet<_> =
        many[..20].iter().map(|block| block.private_address() / (2 * MIB)).collect();
    assert_eq!(segments.len(), 20);
    drop(many);
    assert_eq!(context.empty_cache().expect("alive"), reserved);
}

#[test]
fn adjacent_blocks_are_released_one_by_one() {
    let (_guard, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let mut blocks = context.allocate_adjacent(&[100, 20 * MIB, 5]).expect("room");
    let at: Vec<_> = blocks.iter().map(Block::private_address).collect();
    assert_eq!(at, [at[0], at[0] + 512, at[0] + 512 + 20 * MIB]);
    assert_eq!(context.bytes_allocated().expect("alive") - before, 105 + 20 * MIB);
    drop(blocks.remove(1));
    assert!(is_released(at[1]) && !is_released(at[0]) && !is_released(at[2]));
    assert_eq!(allocate(&context, 20 * MIB - 5).private_address(), at[1]);
    drop(blocks);
    assert_eq!(context.bytes_allocated().expect("alive"), before);
    assert!(context.allocate_adjacent(&[]).expect("nothing to do").is_empty());
}

#[test]
fn memory_in_flight_is_not_reused() {
    let (_guard, context) = alone();
    let block = allocate(&context, LARGE);
    let address = block.address();
    let gate = Gate::on_default_stream(&context);
    drop(block);
    let others: Vec<_> = (0..5).map(|_| allocate(&context, LARGE)).collect();
    assert!(others.iter().all(|other| other.address() != address));
    drop(others);
    gate.open();
    context.synchronize().expect("alive");
    let block = allocate(&context, LARGE);
    assert!(stats(&context).cached_blocks >= 5, "one of those that were released");
    drop(block);
}

#[test]
fn memory_released_before_a_completed_fence_is_reused() {
    let (_guard, context) = alone();
    let (early, late) = (allocate(&context, LARGE), allocate(&context, LARGE));
    let (early_at, late_at) = (early.address(), late.address());
    let first = Gate::on_default_stream(&context);
    drop(early);
    drop(allocate(&context, LARGE)); // records the fence
    let second = Gate::on_default_stream(&context);
    drop(late);
    first.open();
    // The default stream is busy with the second piece of work all the time.
    let mut found = allocate(&context, LARGE);
    for _ in 0..1000 {
        if found.address() == early_at {
            break;
        }
        assert_ne!(found.address(), late_at);
        thread::sleep(Duration::from_millis(1));
        found = allocate(&context, LARGE);
    }
    assert_eq!(found.address(), early_at);
    drop(second);
    context.synchronize().expect("alive");
}

#[test]
fn an_allocation_asks_for_few_fences() {
    let (_guard, context) = alone();
    let gate = Gate::on_default_stream(&context);
    let miss = || {
        let before = count_of(c"cuEventQuery")?;
        allocate(&context, LARGE).expose();
        Some(count_of(c"cuEventQuery")? - before)
    };
    let calls: Vec<_> = (0..12).map(|_| miss()).collect();
    assert!(calls[9..].iter().all(|count| *count <= Some(6)), "{calls:?}");
    gate.open();
    context.synchronize().expect("alive");
}

#[rstest]
fn fences_cover_work_on_any_stream(#[values(BLOCKING, NON_BLOCKING)] flags: u32) {
    let (_guard, context) = alone();
    let stream = Stream::with_flags(&context, flags).expect("room");
    let block = allocate(&context, LARGE);
    let address = block.address();
    let gate = Gate::on(&stream);
    drop(block);
    let other = allocate(&context, LARGE);
    assert_ne!(other.address(), address);
    gate.open();
    context.synchronize().expect("alive");
    assert_eq!(allocate(&context, LARGE).address(), address);
}

#[test]
fn memory_in_flight_does_not_grow_without_bound() {
    let (_guard, context) = alone();
    context.set_cache_limit(3 * LARGE).expect("alive");
    let before = stats(&context).reserved_bytes;
    let gate = Gate::on_default_stream(&context);
    let opener = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        gate.open();
    });
    for _ in 0..50 {
        allocate(&context, LARGE).expose();
    }
    assert!(stats(&context).reserved_bytes - before <= 6 * LARGE, "it was waited for");
    opener.join().expect("no panic");
}

#[test]
fn lent_memory_is_freed_at_release() {
    let (_guard, context) = alone();
    let before = stats(&context).driver_frees;
    let block = allocate(&context, LARGE);
    let current = context.enter().expect("alive");
    prepare_sharing(&current, block.address() + LARGE - 1).expect("alive");
    drop(block);
    assert_eq!(stats(&context).driver_frees - before, 1);
    assert_eq!(stats(&context).cached_blocks, 0);
    // Freeing the block removes the mark.
    drop(allocate(&context, LARGE));
    assert_eq!(stats(&context).cached_blocks, 1);
}

#[test]
fn exported_memory_is_not_cached() {
    let (_guard, context) = alone();
    let before = stats(&context);
    let block = allocate(&context, LARGE);
    retain_exported(block.address());
    drop(block);
    context.empty_cache().expect("alive");
    let after = stats(&context);
    assert_eq!((after.cached_blocks, after.driver_frees), (0, before.driver_frees));
    assert_eq!(after.reserved_bytes, before.reserved_bytes + LARGE);
    assert_eq!(after.allocated_bytes, before.allocated_bytes + LARGE);
}

#[test]
fn the_cache_respects_its_limit() {
    let (_guard, context) = alone();
    context.set_cache_limit(2 * LARGE).expect("alive");
    let blocks: Vec<_> = (0..4).map(|_| allocate(&context, LARGE)).collect();
    let addresses: Vec<_> = blocks.iter().map(Block::address).collect();
    for block in blocks {
        drop(block);
    }
    let still_cached: Vec<_> = addresses.iter().map(|at| is_released(*at)).collect();
    assert_eq!(still_cached, [false, false, true, true], "the first released are evicted first");
    context.set_cache_limit(LARGE + 5).expect("alive");
    assert_eq!((stats(&context).cached_bytes, stats(&context).cache_limit), (LARGE, LARGE + 5));
    context.set_cache_limit(0).expect("alive");
    let before = stats(&context).driver_frees;
    drop(allocate(&context, LARGE));
    let after = stats(&context);
    assert_eq!((after.cached_bytes, after.driver_frees), (0, before + 1));
}

#[test]
fn cached_memory_is_reclaimed_when_memory_runs_out() {
    let (_guard, context) = alone();
    let total = context.device().total_memory().expect("a device");
    context.set_cache_limit(total).expect("alive");
    let free = context.free_memory().expect("alive");
    // So much is kept from now on.
    let both = [allocate(&context, free / 8 * 3), allocate(&context, free / 2)];
    both.into_iter().for_each(drop);
    context.set_cache_limit(free / 2 + 2 * MIB).expect("alive"); // evicts the first
    context.set_cache_limit(total).expect("alive");
    assert!(stats(&context).cached_bytes >= free / 2);
    let before = stats(&context).out_of_memory_retries;
    // There is no room for more beside the cached block.
    let block = allocate(&context, free / 2 + 16 * MIB);
    assert_eq!(stats(&context).out_of_memory_retries, before + 1);
    let error = context.allocate(total, Placement::Alone).expect_err("no room");
    assert!(error.is_out_of_memory());
    drop(block);
    context.empty_cache().expect("alive");
}

#[test]
fn memory_in_flight_is_waited_for_when_memory_runs_out() {
    let (_guard, context) = alone();
    let total = context.device().total_memory().expect("a device");
    context.set_cache_limit(total).expect("alive");
    let most = context.free_memory().expect("alive") / 8 * 7;
    drop(allocate(&context, most));
    // Both lie in one segment, which cannot go back to the driver.
    let (kept, released) = (allocate(&context, most / 4), allocate(&context, most / 2));
    let address = released.address();
    assert!(kept.shares_segment(&released));
    let gate = Gate::on_default_stream(&context);
    drop(released);
    let waiting = context.clone();
    let found = thread::spawn(move || allocate(&waiting, most / 2).private_address());
    thread::sleep(Duration::from_millis(20));
    gate.open();
    assert_eq!(found.join().expect("room, once the work is complete"), address);
    drop(kept);
    context.empty_cache().expect("alive");
}

#[test]
fn parts_of_segments_in_use_serve_when_there_is_no_room_for_a_segment() {
    let (_guard, context) = alone();
    let kept = context.allocate(1000, Placement::Packed).expect("room");
    let filling = fill(&context);
    let block = context.allocate(1000, Placement::Alone);
    filling.release(&context);
    assert!(kept.shares_segment(&block.expect("room beside the other")));
}

#[test]
fn a_release_does_not_wait_for_a_thread_that_waits_for_memory() {
    let (_guard, context) = alone();
    context.set_cache_limit(LARGE).expect("alive");
    let blocks: Vec<_> = (0..3).map(|_| allocate(&context, LARGE)).collect();
    blocks.iter().for_each(Block::expose);
    let late = allocate(&context, LARGE);
    let gate = Gate::on_default_stream(&context);
    drop(blocks);
    let waiting = context.clone();
    let waits = thread::spawn(move || drop(allocate(&waiting, LARGE)));
    thread::sleep(Duration::from_millis(20));
    let (released, hears) = mpsc::channel();
    let releases = thread::spawn(move || {
        drop(late);
        released.send(()).expect("somebody hears it");
    });
    let in_time = hears.recv_timeout(Duration::from_secs(10));
    gate.open();
    waits.join().expect("no panic");
    releases.join().expect("no panic");
    in_time.expect("a release while the device is busy");
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
                        assert!(in_use.lock().expect("no panic").remove(&block.private_address()));
                        drop(block);
                    } else {
                        let size = [draw % 5000, draw % (3 * MIB), draw % (20 * MIB)];
                        let block = allocate(&context, size[(draw % 3) as usize] + 1);
                        if draw % 7 == 0 {
                            block.expose();
                        }
                        let at = block.private_address();
                        let is_new = in_use.lock().expect("no panic").insert(at);
                        assert!(is_new, "handed out twice");
                        held.push(block);
                    }
                    if step % 500 == seed {
                        context.empty_cache().expect("alive");
                    }
                }
                for block in held {
                    in_use.lock().expect("no panic").remove(&block.private_address());
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
    drop(allocate(&theirs, LARGE));
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
    drop(allocate(&same, LARGE));
    assert_eq!(stats(&context).cached_bytes, LARGE);
}
