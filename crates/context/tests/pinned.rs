//! Released pinned memory: when it is reused, by which requests, and how it goes back to the driver.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{
    Context, Device, Extension, PinnedBlock, PinnedMemoryStats, Stream, block_at,
    empty_pinned_cache, is_released, pinned_memory_stats, set_pinned_cache_limit,
};
use arrow_cuda_driver::{CudaError, call, is_simulated};
use common::Gate;
use rstest::rstest;
use std::ffi::c_void;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const MIB: usize = 1 << 20;

/// The whole process shares the cache: one test at a time, each with an empty cache.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    empty_pinned_cache().expect("alive");
    set_pinned_cache_limit(512 << 20).expect("alive");
    (guard, context)
}

fn allocate(context: &Context, size: usize) -> PinnedBlock {
    context.allocate_pinned(size).expect("room")
}

fn stats() -> PinnedMemoryStats {
    pinned_memory_stats().expect("bookkeeping")
}

/// Allocates and releases memory whose address somebody else has.  Returns the address.
fn expose(context: &Context, size: usize) -> u64 {
    allocate(context, size).address()
}

/// A context of another library, on the first device.
fn their_context() -> (Context, *mut c_void) {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer; the new context is current, and popped.
    unsafe {
        call!(cuCtxCreate_v2((&raw mut handle).cast(), 0, 0)).expect("a context");
        let mut popped: *mut c_void = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2((&raw mut popped).cast())).expect("the new one");
    }
    (Context::borrowed(0, handle as usize).expect("alive"), handle)
}

fn destroy(context: *mut c_void) {
    // SAFETY: made by `their_context`, and destroyed once.
    unsafe { call!(cuCtxDestroy_v2(context)) }.expect("alive");
}

#[test]
fn released_memory_is_reused() {
    let (_guard, context) = alone();
    let before = stats();
    let block = allocate(&context, 64 * MIB);
    let address = block.private_address();
    assert!(!is_released(address));
    drop(block);
    assert!(is_released(address) && is_released(address + 64 * MIB as u64 - 1));
    assert_eq!((stats().cached_bytes, stats().cached_blocks), (64 << 20, 1));
    for _ in 0..100 {
        // A slightly smaller request reuses the same block.
        let block = allocate(&context, 60 * MIB + 5);
        assert_eq!((block.private_address(), block.size()), (address, 60 * MIB as u64 + 5));
        assert!(!is_released(address));
    }
    let after = stats();
    assert_eq!(after.driver_allocations - before.driver_allocations, 1);
    assert_eq!(after.cache_hits - before.cache_hits, 100);
    assert_eq!(after.cache_misses - before.cache_misses, 1);
    assert_ne!(allocate(&context, 33 * MIB).private_address(), address, "far too large for it");
    assert_eq!(empty_pinned_cache().expect("alive"), (64 + 36) << 20);
    assert!(!is_released(address), "the driver has freed it");
    assert_eq!((stats().cached_bytes, stats().reserved_bytes), (0, before.reserved_bytes));
}

#[test]
fn a_block_ends_where_its_request_does() {
    let (_guard, context) = alone();
    let block = allocate(&context, 5000);
    let address = block.private_address();
    assert_eq!(block_at(address + 8191, address), Some((address, 5000)));
    drop(block);
    assert_eq!(block_at(address, address), None);
}

#[test]
fn private_memory_is_reused_whatever_goes_on() {
    let (_guard, context) = alone();
    let block = allocate(&context, MIB);
    let address = block.private_address();
    let gate = Gate::on_default_stream(&context);
    drop(block);
    assert_eq!(allocate(&context, MIB).private_address(), address);
    drop(gate);
    context.synchronize().expect("alive");
}

/// Pins memory while a stream is busy.  A driver may wait for the stream then, so its gate opens in
/// the end.
fn allocate_beside(gate: &Gate, context: &Context, size: usize) -> PinnedBlock {
    let (done, is_done) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(5)) == Err(RecvTimeoutError::Timeout) {
                gate.open();
            }
        });
        let block = allocate(context, size);
        drop(done);
        block
    })
}

/// Leaked memory is not reused while a stream is busy that was so at its release, and is afterwards.
fn assert_waits_for(stream: &Stream, context: &Context) {
    let block = allocate(context, 4 * MIB);
    let gate = Gate::on(stream);
    let address = block.address();
    drop(block);
    let other = allocate_beside(&gate, context, 4 * MIB);
    assert_ne!(other.private_address(), address);
    assert!(is_released(address), "cached nevertheless");
    gate.open();
    drop(stream.synchronize().expect("alive"));
    assert_eq!(allocate(context, 4 * MIB).private_address(), address);
    drop(other);
}

#[rstest]
fn exposed_memory_waits_for_all_streams(#[values(0, 1)] flags: u32) {
    let (_guard, context) = alone();
    assert_waits_for(&Stream::with_flags(&context, flags).expect("room"), &context);
    assert_waits_for(&Stream::default_of(&context), &context);
}

#[test]
fn exposed_memory_waits_for_contexts_of_other_libraries() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    assert_waits_for(&Stream::non_blocking(&theirs).expect("room"), &context);
    if !is_simulated().expect("a driver") {
        return; // other drivers may wait for the stream before they pin memory
    }
    // Once such a context is gone, it holds nobody up, however many fences have an event there.
    let gate = Gate::on_default_stream(&context);
    for _ in 0..20 {
        expose(&context, 8 * MIB);
    }
    destroy(handle);
    gate.open();
    context.synchronize().expect("alive");
    let before = stats();
    expose(&context, 8 * MIB);
    assert_eq!(
        (stats().cache_hits, stats().cache_misses),
        (before.cache_hits + 1, before.cache_misses)
    );
}

/// Tells when its context is forgotten.
struct Witness(Arc<()>);

impl Extension for Witness {}

#[test]
fn contexts_that_are_gone_are_not_remembered() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    let witness = Arc::new(());
    let made = theirs.extension_or(|| Ok::<_, CudaError>(Witness(Arc::clone(&witness))));
    assert_eq!(Arc::strong_count(&made.expect("room").0), 2);
    (0..3).for_each(|_| assert_ne!(expose(&context, MIB), 0)); // fences have events there
    destroy(handle);
    drop(theirs);
    (0..3).for_each(|_| assert_ne!(expose(&context, MIB), 0));
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn exposed_memory_waits_for_other_devices() {
    let (_guard, context) = alone();
    if Device::count().expect("a driver") < 2 {
        return;
    }
    // Another library has made that device's context, and nobody here has asked for it.
    let mut theirs: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuDevicePrimaryCtxRetain((&raw mut theirs).cast(), 1)) }.expect("a device");
    let borrowed = Context::borrowed(1, theirs as usize).expect("alive");
    let block = allocate(&context, 4 * MIB);
    let gate = Gate::on_default_stream(&borrowed);
    drop(borrowed);
    let address = block.address();
    drop(block);
    let other = allocate_beside(&gate, &context, 4 * MIB);
    assert_ne!(other.private_address(), address);
    gate.open();
    Context::primary(1).expect("a device").synchronize().expect("alive");
    assert_eq!(allocate(&context, 4 * MIB).private_address(), address);
}

#[test]
fn memory_serves_again_in_its_own_context_only() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    let address = allocate(&context, MIB).private_address();
    let block = allocate(&theirs, MIB);
    assert_ne!(block.private_address(), address);
    // The owner of a borrowed context may destroy it at any time.
    let before = stats().driver_frees;
    drop(block);
    assert_eq!((stats().driver_frees, stats().cached_blocks), (before + 1, 1));
    let lost = allocate(&theirs, MIB);
    let at = lost.private_address();
    assert!(block_at(at, at).is_some());
    destroy(handle);
    assert_eq!(block_at(at, at), None, "others may have the address by now");
    drop(lost);
    assert_eq!(stats().cached_blocks, 1);
}

#[test]
fn the_cache_respects_its_limit() {
    let (_guard, context) = alone();
    set_pinned_cache_limit(8 << 20).expect("alive");
    let blocks: Vec<_> = (0..4).map(|_| allocate(&context, 4 * MIB)).collect();
    let addresses: Vec<_> = blocks.iter().map(PinnedBlock::private_address).collect();
    for block in blocks {
        drop(block);
    }
    let still_cached: Vec<_> = addresses.iter().map(|at| is_released(*at)).collect();
    assert_eq!(still_cached, [false, false, true, true], "the first released are evicted first");
    drop(allocate(&context, 9 * MIB));
    assert_eq!(stats().cached_bytes, 8 << 20, "a block above the limit evicts nothing");
    set_pinned_cache_limit(5 << 20).expect("alive");
    assert_eq!((stats().cached_bytes, stats().cache_limit), (4 << 20, 5 << 20));
    set_pinned_cache_limit(0).expect("alive");
    let before = stats().driver_frees;
    drop(allocate(&context, 4 * MIB));
    assert_eq!((stats().cached_bytes, stats().driver_frees), (0, before + 1));
}

#[test]
fn threads_share_the_cache() {
    let (_guard, context) = alone();
    let before = stats();
    thread::scope(|scope| {
        for seed in 0..4usize {
            let context = &context;
            scope.spawn(move || {
                let mut held: Vec<(PinnedBlock, u64)> = Vec::new();
                for step in 0..300usize {
                    let draw = (step + 1).wrapping_mul(seed * 2 + 0x9e37_79b9_7f4a_7c15) >> 40;
                    if held.len() > 8 || draw.is_multiple_of(3) && !held.is_empty() {
                        let (block, mark) = held.swap_remove(draw % held.len());
                        // SAFETY: the block's first word, which nobody else has meanwhile.
                        let found = unsafe { *(block.private_address() as *const u64) };
                        assert_eq!(found, mark, "handed out twice");
                        if draw.is_multiple_of(2) {
                            block.address();
                        }
                    } else {
                        let block = allocate(context, draw % 100_000 + 8);
                        let mark = (seed * 1000 + step) as u64;
                        // SAFETY: as above.
                        unsafe { *(block.private_address() as *mut u64) = mark };
                        held.push((block, mark));
                    }
                    if step % 100 == seed {
                        empty_pinned_cache().expect("alive");
                    }
                }
            });
        }
    });
    empty_pinned_cache().expect("alive");
    let after = stats();
    assert_eq!(after.allocated_bytes, before.allocated_bytes);
    assert_eq!(after.reserved_bytes, before.reserved_bytes);
    let allocations = after.driver_allocations - before.driver_allocations;
    assert_eq!(allocations, after.driver_frees - before.driver_frees);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn the_cache_makes_room() {
    let (_guard, context) = alone();
    let held = allocate(&context, MIB);
    drop([allocate(&context, 2 * MIB), allocate(&context, 3 * MIB)]);
    drop(allocate(&context, 16 * MIB)); // fails at first
    assert_eq!((stats().out_of_memory_retries, stats().driver_frees), (1, 2));
    assert_eq!(stats().cached_bytes, 16 << 20);
    empty_pinned_cache().expect("alive");
    let error = context.allocate_pinned(5 * MIB).expect_err("the fault, and nothing to give");
    assert!(error.is_out_of_memory());
    assert_eq!((stats().out_of_memory_retries, stats().allocated_bytes), (1, 1 << 20));
    drop(held);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn failures_of_the_driver_are_returned_once_all_was_tried() {
    let (_guard, context) = alone();
    drop([allocate(&context, MIB), allocate(&context, 2 * MIB), allocate(&context, 3 * MIB)]);
    assert_eq!(empty_pinned_cache().expect_err("the fault").code(), Some(999));
    assert_eq!((stats().cached_blocks, stats().reserved_bytes), (0, 2 << 20), "the driver has it");
    assert_eq!(stats().driver_frees, 2);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn evidence_that_fails_makes_nothing_reusable() {
    let (_guard, context) = alone();
    let address = expose(&context, MIB);
    let other = allocate(&context, MIB);
    assert_ne!(other.private_address(), address, "the fault");
    assert_eq!(allocate(&context, MIB).private_address(), address);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn older_drivers_cache_no_exposed_memory() {
    let (_guard, context) = alone();
    expose(&context, MIB);
    drop(allocate(&context, 2 * MIB));
    expose(&context, MIB); // finds that there is no evidence
    assert_eq!((stats().cached_bytes, stats().driver_frees), (2 << 20, 2));
    expose(&context, MIB);
    assert_eq!(stats().cached_bytes, 2 << 20);
}

#[rstest]
#[case("exposed_memory_waits_for_other_devices", "")]
#[case("the_cache_makes_room", "cuMemHostAlloc:4=2,cuMemHostAlloc:6=2")]
#[case("failures_of_the_driver_are_returned_once_all_was_tried", "cuMemFreeHost:2=999")]
#[case("evidence_that_fails_makes_nothing_reusable", "cuCtxRecordEvent:1=900")]
#[case("older_drivers_cache_no_exposed_memory", "cuCtxRecordEvent:1+=500")]
fn with_other_drivers(#[case] test: &str, #[case] fault: &str) {
    if !fault.is_empty() && !is_simulated().expect("a driver") {
        return; // hardware fails when it likes
    }
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", test, "--ignored"])
        .env("CUDA_SIM_FAULT", fault)
        .env("CUDA_SIM_DEVICES", "2")
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
}
