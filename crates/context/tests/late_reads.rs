//! Memory that another device still reads when it is released.
//!
//! Without a second device there is nothing to test: set `CUDA_SIM_DEVICES=2`.

mod common;
#[path = "common/late_read.rs"]
mod late_read;

#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Cache, Context, Device, HostPool, Placement, Ready, Stream};
use common::{Gate, alone, second_device};
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

fn fill(block: &Block, value: u8) {
    let current = block.context().enter().expect("alive");
    // SAFETY: the whole block.
    unsafe { current.fill_memory(block.address(&Ready::by_caller()), value, SIZE) }.expect("alive");
}

fn filled(context: &Context, value: u8) -> Block {
    let block = Block::allocate(context, SIZE as u64, Placement::Alone).expect("room");
    fill(&block, value);
    block
}

#[test]
fn a_late_read_finds_what_is_there_in_the_end() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::of(&block, &reader);
    fill(&block, 2);
    late.finds(2);
}

#[test]
fn memory_that_another_device_reads_is_not_handed_out_again() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::of(&block, &reader);
    drop(block);
    let _next = filled(&owner, 2);
    late.finds(1);
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
    let late = LateRead::of(&block, &reader);
    late.finds_beside(1, || {
        drop(block);
        way.finish(owner.cache());
    });
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
    let (data, release): (*mut u8, Box<dyn FnOnce()>) = if is_of_pool {
        let start = pool.allocate(SIZE, 64).expect("room");
        // SAFETY: allocated just now, and not used after its release.
        (start.as_ptr(), Box::new(move || unsafe { pool.release(start) }))
    } else {
        let block = Block::allocate_pinned(&owner, SIZE).expect("room");
        let address = block.address(&Ready::by_caller()) as usize;
        (std::ptr::with_exposed_provenance_mut(address), Box::new(move || drop(block)))
    };
    // SAFETY: allocated above.
    unsafe { data.write_bytes(1, SIZE) };
    let late = LateRead::of_pinned(data, SIZE, &reader);
    late.finds_beside(1, || {
        release();
        way.finish(Cache::Pinned);
    });
    Cache::Pinned.set_limit(64 << 20).expect("alive");
}

#[test]
fn a_reset_waits_for_other_devices() {
    let Some((_alone, [owner, reader])) = two_devices() else { return };
    let block = filled(&owner, 1);
    let late = LateRead::of(&block, &reader);
    // SAFETY: one test at a time, and the reader has its own context.
    late.finds_beside(1, || unsafe { owner.device().reset() }).expect("a device");
    drop(block);
}

#[test]
fn a_reset_of_an_unused_device_waits_for_nothing() {
    with_settings(&[("CUDA_SIM_DEVICES", "2")], || {
        let (_alone, first) = alone();
        let gate = Gate::on(&Stream::non_blocking(&first).expect("room"));
        // SAFETY: nobody uses the device.
        unsafe { Device::get(1).expect("as set").reset() }.expect("a device");
        gate.open();
    });
}

#[test]
fn a_full_device_frees_what_no_device_reads() {
    with_settings(&[("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_MEMORY", "32M")], || {
        let (_alone, [owner, reader]) = two_devices().expect("as set");
        owner.cache().set_limit(32 << 20).expect("alive");
        let block = filled(&owner, 1);
        let late = LateRead::of(&block, &reader);
        drop(block);
        late.finds_beside(1, || Block::allocate(&owner, 30 << 20, Placement::Packed))
            .expect("room");
    });
}
