//! Memory that another device still reads when it is released.
//!
//! Without a second device there is nothing to test: set `CUDA_SIM_DEVICES=2`.

mod common;
#[path = "common/late_read.rs"]
mod late_read;

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Cache, Context, HostPool, Placement, Ready};
use common::{alone, second_device};
use late_read::LateRead;
use rstest::rstest;
use simulator::with_settings;
use std::sync::MutexGuard;

const SIZE: usize = 4 << 20;

/// Blocks go from one test to another: one test at a time.
fn two_devices() -> Option<(MutexGuard<'static, ()>, [Context; 2])> {
    let (guard, first) = alone();
    Some((guard, [first, second_device()?]))
}

fn filled(context: &Context, value: u8) -> Block {
    let block = context.allocate(SIZE as u64, Placement::Alone).expect("room");
    let current = context.enter().expect("alive");
    // SAFETY: the whole block.
    unsafe { current.fill_memory(block.address(&Ready::by_caller()), value, SIZE) }.expect("alive");
    block
}

#[test]
fn a_late_read_finds_what_is_there_in_the_end() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::queue(&reader, (block.address(&Ready::by_caller()), &owner), SIZE);
    let current = owner.enter().expect("alive");
    // SAFETY: the whole block.
    unsafe { current.fill_memory(block.address(&Ready::by_caller()), 2, SIZE) }.expect("alive");
    assert!(late.finish().iter().all(|byte| *byte == 2));
}

#[test]
fn memory_that_another_device_reads_is_not_handed_out_again() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::queue(&reader, (block.address(&Ready::by_caller()), &owner), SIZE);
    drop(block);
    let next = filled(&owner, 2);
    assert!(late.finish().iter().all(|byte| *byte == 1), "these are the next owner's bytes");
    drop(next);
}

/// A way in which released memory goes back to the driver.
#[derive(Clone, Copy, Debug)]
enum Way {
    Emptied,
    Limited,
    NeverCached,
}

impl Way {
    fn prepare(self, cache: Cache<'_>) {
        cache.empty().expect("alive");
        let limit = if matches!(self, Self::NeverCached) { 0 } else { 64 << 20 };
        cache.set_limit(limit).expect("alive");
    }

    fn finish(self, cache: Cache<'_>) {
        match self {
            Self::Emptied => assert!(cache.empty().expect("alive") >= SIZE as u64),
            Self::Limited => cache.set_limit(0).expect("alive"),
            Self::NeverCached => {}
        }
    }
}

#[rstest]
fn device_memory_goes_back_when_no_device_reads_it(
    #[values(Way::Emptied, Way::Limited, Way::NeverCached)] way: Way,
) {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    way.prepare(owner.cache());
    let block = filled(&owner, 1);
    let late = LateRead::queue(&reader, (block.address(&Ready::by_caller()), &owner), SIZE);
    let ((), found) = late.finish_beside(|| {
        drop(block);
        way.finish(owner.cache());
    });
    assert!(found.iter().all(|byte| *byte == 1));
    owner.cache().set_limit(64 << 20).expect("alive");
}

#[rstest]
fn pinned_memory_goes_back_when_no_context_reads_it(
    #[values(Way::Emptied, Way::Limited, Way::NeverCached)] way: Way,
    #[values(false, true)] is_of_pool: bool,
) {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    way.prepare(Cache::Pinned);
    let pool = HostPool::of(&owner);
    let block = (!is_of_pool).then(|| owner.allocate_pinned(SIZE).expect("room"));
    let of_pool = is_of_pool.then(|| pool.allocate(SIZE, 64).expect("room"));
    let address = block.as_ref().map(|block| block.address(&Ready::by_caller())).into_iter();
    let address = address.chain(of_pool.map(|start| start.addr().get() as u64)).next();
    let data = std::ptr::with_exposed_provenance_mut(address.expect("one of them") as usize);
    // SAFETY: allocated above.
    unsafe { std::ptr::write_bytes(data, 1, SIZE) };
    let late = LateRead::queue_on_host(&reader, data, SIZE);
    let ((), found) = late.finish_beside(|| {
        drop(block);
        // SAFETY: allocated above, and not used afterwards.
        of_pool.into_iter().for_each(|start| unsafe { pool.release(start) });
        way.finish(Cache::Pinned);
    });
    assert!(found.iter().all(|byte| *byte == 1));
    Cache::Pinned.set_limit(64 << 20).expect("alive");
}

#[test]
fn a_reset_waits_for_other_devices() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::queue(&reader, (block.address(&Ready::by_caller()), &owner), SIZE);
    // SAFETY: one test at a time, and the reader has its own context.
    let (reset, found) = late.finish_beside(|| unsafe { owner.device().reset() });
    assert!(reset.is_ok() && found.iter().all(|byte| *byte == 1));
    drop(block);
}

#[test]
fn a_full_device_frees_what_no_device_reads() {
    with_settings(&[("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_MEMORY", "32M")], || {
        let (_alone, [owner, reader]) = two_devices().expect("as set");
        owner.cache().set_limit(32 << 20).expect("alive");
        let block = filled(&owner, 1);
        let late = LateRead::queue(&reader, (block.address(&Ready::by_caller()), &owner), SIZE);
        drop(block);
        let (new, found) = late.finish_beside(|| owner.allocate(30 << 20, Placement::Packed));
        assert!(new.is_ok() && found.iter().all(|byte| *byte == 1));
    });
}
