//! Memory that another device still reads when it is released.
//!
//! Without a second device there is nothing to test: set `CUDA_SIM_DEVICES=2`.

mod common;
#[path = "common/late_read.rs"]
mod late_read;

use arrow_cuda_context::{Block, Context, Placement, Ready};
use common::{alone, second_device};
use late_read::LateRead;
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
