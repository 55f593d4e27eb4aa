//! Pinned memory of the driver: other contexts and devices, and drivers that fail.

use super::common::Gate;
use super::simulator::{in_own_process, run_ignored};
use super::{LARGE, Pinned, Source, alone, destroy, their_context};
use arrow_cuda_context::{Cache, Context, Device, Extension, MemoryStats};
use arrow_cuda_driver::{CudaError, call, is_simulated};
use rstest::rstest;
use std::ffi::c_void;
use std::sync::Arc;

fn stats() -> MemoryStats {
    Cache::Pinned.stats().expect("bookkeeping")
}

#[test]
fn a_context_that_is_gone_holds_nobody_up() {
    let (_guard, context) = alone();
    let (theirs, handle) = their_context();
    if !is_simulated().expect("a driver") {
        return destroy(handle); // other drivers may wait for the stream before they pin memory
    }
    // However many fences have an event there.
    let gate = Gate::on_default_stream(&context);
    for _ in 0..20 {
        Pinned.expose(&context, 8 << 20);
    }
    drop(theirs);
    destroy(handle);
    gate.open();
    context.synchronize().expect("alive");
    let before = stats();
    Pinned.expose(&context, 8 << 20);
    let after = stats();
    assert_eq!(after.cache_hits, before.cache_hits + 1);
    assert_eq!(after.cache_misses, before.cache_misses);
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
    (0..3).for_each(|_| assert_ne!(Pinned.expose(&context, LARGE), 0)); // fences have events there
    destroy(handle);
    drop(theirs);
    (0..3).for_each(|_| assert_ne!(Pinned.expose(&context, LARGE), 0));
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
    let block = Pinned.allocate(&context, LARGE);
    let gate = Gate::on_default_stream(&borrowed);
    drop(borrowed);
    let address = block.address();
    drop(block);
    let other = Pinned.allocate_beside(&gate, &context, LARGE);
    assert_ne!(other.private_address(), address);
    gate.open();
    Context::primary(1).expect("a device").synchronize().expect("alive");
    assert_eq!(Pinned.allocate(&context, LARGE).private_address(), address);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn the_cache_makes_room() {
    let (_guard, context) = alone();
    let held = Pinned.allocate(&context, LARGE);
    drop([Pinned.allocate(&context, LARGE), Pinned.allocate(&context, 2 * LARGE)]);
    drop(Pinned.allocate(&context, 4 * LARGE)); // fails at first
    assert_eq!((stats().out_of_memory_retries, stats().driver_frees), (1, 2));
    assert_eq!(stats().cached_bytes, 4 * LARGE);
    Cache::Pinned.empty().expect("alive");
    let size = usize::try_from(5 * LARGE).expect("small");
    let error = context.allocate_pinned(size).expect_err("the fault, and nothing to give");
    assert!(error.is_out_of_memory());
    assert_eq!((stats().out_of_memory_retries, stats().allocated_bytes), (1, LARGE));
    drop(held);
}

#[test]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn failures_of_the_driver_are_returned_once_all_was_tried() {
    let (_guard, context) = alone();
    drop([1, 2, 3].map(|times| Pinned.allocate(&context, times * LARGE)));
    assert_eq!(Cache::Pinned.empty().expect_err("the fault").code(), Some(999));
    let after = stats();
    assert_eq!((after.cached_blocks, after.driver_frees), (0, 2));
    assert_eq!(after.reserved_bytes, 2 * LARGE, "the driver has it");
}

#[rstest]
#[ignore = "run by `with_other_drivers`, in a process of its own"]
fn evidence_that_fails_makes_nothing_reusable(
    #[values(Source::Device, Pinned, Source::Pages)] source: Source,
) {
    let (_guard, context) = alone();
    let address = source.expose(&context, LARGE);
    let other = source.allocate(&context, LARGE);
    assert_ne!(other.private_address(), address, "the fault");
    assert_eq!(source.allocate(&context, LARGE).private_address(), address);
}

#[rstest]
#[case("exposed_memory_waits_for_other_devices", "")]
#[case("the_cache_makes_room", "cuMemHostAlloc:4=2,cuMemHostAlloc:6+=2")]
#[case("failures_of_the_driver_are_returned_once_all_was_tried", "cuMemFreeHost:2=999")]
#[case(
    "evidence_that_fails_makes_nothing_reusable::source_1_Source__Device",
    "cuCtxRecordEvent:1=900"
)]
#[case("evidence_that_fails_makes_nothing_reusable::source_2_Pinned", "cuCtxRecordEvent:1=900")]
#[case(
    "evidence_that_fails_makes_nothing_reusable::source_3_Source__Pages",
    "cuCtxRecordEvent:1=900"
)]
fn with_other_drivers(#[case] test: &str, #[case] fault: &str) {
    let settings = [("CUDA_SIM_FAULT", fault), ("CUDA_SIM_DEVICES", "2")];
    let run = if fault.is_empty() { run_ignored } else { in_own_process };
    run(&format!("pinned::{test}"), &settings);
}
