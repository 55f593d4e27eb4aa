//! Calls of the driver that fail.  Only the simulated driver has calls fail on request.

use super::common::Gate;
use super::simulator::{fault, with_settings};
use super::{Device, LARGE, Pages, Pinned, Source, alone};
use arrow_cuda_context::{Block, Context, Placement, Stream};
use arrow_cuda_driver::is_simulated;
use rstest::rstest;
use std::sync::MutexGuard;

fn alone_with_the_simulator() -> Option<(MutexGuard<'static, ()>, Context)> {
    is_simulated().expect("a driver").then(alone)
}

/// Calls of the driver fail until this is dropped.
struct Fault;

impl Fault {
    fn new(rules: &str) -> Self {
        fault(rules);
        Self
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        fault("");
    }
}

#[rstest]
fn the_cache_makes_room(#[values(Pinned, Pages)] source: Source) {
    let Some((_guard, context)) = alone_with_the_simulator() else { return };
    let _held = source.allocate(&context, LARGE);
    drop([1, 2].map(|times| source.allocate(&context, times * LARGE)));
    let before = source.stats(&context);
    let failing = Fault::new("cuMemHostRegister:1=2");
    drop(source.allocate(&context, 4 * LARGE));
    let after = source.stats(&context);
    assert_eq!(after.out_of_memory_retries, before.out_of_memory_retries + 1);
    assert_eq!(after.driver_frees, before.driver_frees + 2);
    assert_eq!(after.cached_bytes, 4 * LARGE);
    drop(failing);
    source.empty(&context);
    let _failing = Fault::new("cuMemHostRegister:1+=2");
    let error = source.try_allocate(&context, 5 * LARGE).err().expect("nothing is left to give");
    assert!(error.is_out_of_memory());
    let last = source.stats(&context);
    assert_eq!(last.out_of_memory_retries, after.out_of_memory_retries);
    assert_eq!(last.allocated_bytes, before.allocated_bytes);
}

#[test]
fn a_block_is_packed_when_there_is_no_room_for_a_segment() {
    let Some((_guard, context)) = alone_with_the_simulator() else { return };
    let allocate = |placement| Block::allocate(&context, 1000, placement).expect("room");
    let (packed, alone) = (allocate(Placement::Packed), allocate(Placement::Alone));
    assert!(!packed.shares_segment(&alone));
    let failing = Fault::new("cuMemAlloc:1+=2");
    assert!(packed.shares_segment(&allocate(Placement::Alone)), "beside another");
    drop((packed, alone, failing));
    Device.empty(&context);
    let reserved = Device.stats(&context).reserved_bytes;
    let _failing = Fault::new("cuMemAlloc:1=2");
    let _block = allocate(Placement::Alone);
    assert_eq!(Device.stats(&context).reserved_bytes, reserved + 1024, "no more than it needs");
}

#[rstest]
#[case(Device, "cuMemFree")]
#[case(Pinned, "cuMemHostUnregister")]
#[case(Pages, "cuMemHostUnregister")]
fn failures_are_returned_once_all_was_tried(#[case] source: Source, #[case] frees: &str) {
    let Some((_guard, context)) = alone_with_the_simulator() else { return };
    let before = source.stats(&context);
    drop([(); 3].map(|()| source.allocate(&context, LARGE)));
    let failing = Fault::new(&format!("{frees}:2=999"));
    let error = source.cache(&context).empty().expect_err("the fault");
    drop(failing);
    assert_eq!(error.code(), Some(999));
    let after = source.stats(&context);
    assert_eq!((after.cached_blocks, after.driver_frees), (0, before.driver_frees + 2));
    assert_eq!(after.reserved_bytes, before.reserved_bytes + LARGE, "the driver has it");
}

#[rstest]
fn evidence_that_fails_makes_nothing_reusable(#[values(Device, Pinned, Pages)] source: Source) {
    let Some((_guard, context)) = alone_with_the_simulator() else { return };
    let address = source.expose(&context, LARGE);
    let failing = Fault::new("cuCtxRecordEvent:1+=900");
    let other = source.allocate(&context, LARGE);
    drop(failing);
    assert_ne!(other.private_address(), address, "the fault");
    assert_eq!(source.allocate(&context, LARGE).private_address(), address);
}

#[test]
fn a_block_that_may_still_be_cleared_is_not_reused() {
    with_settings(&[("PYARROW_CUDA_ZERO", "on")], || {
        let (_guard, context) = alone();
        let busy = Stream::non_blocking(&context).expect("room");
        let gate = Gate::on(&busy);
        let failing = Fault::new("cuStreamSynchronize:1=999");
        let error = Device.try_allocate(&context, LARGE).err().expect("the wait fails");
        drop(failing);
        assert_eq!(error.code(), Some(999));
        let _block = Device.allocate(&context, LARGE);
        let allocations = Device.stats(&context).driver_allocations;
        assert_eq!(allocations, 2, "the first block is still in flight");
        gate.open();
        drop(busy.synchronize().expect("alive"));
    });
}
