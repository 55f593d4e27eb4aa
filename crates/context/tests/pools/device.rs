//! Device memory: sharing with other processes, adjacent blocks, and a device without room.

use super::common::{Gate, destroy, their_context};
use super::simulator::calls_of;
use super::{Device, LARGE, MIB, alone};
use arrow_cuda_context::{
    Block, Context, Placement, Ready, is_released, prepare_sharing, retain_exported,
};
use arrow_cuda_driver::is_simulated;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn allocate(context: &Context, size: u64) -> Block {
    Block::allocate(context, size, Placement::Alone).expect("room")
}

#[test]
fn adjacent_blocks_are_released_one_by_one() {
    let (_guard, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let mut blocks = Block::suballocate(&context, &[100, 20 * MIB, 5]).expect("room");
    let at: Vec<_> = blocks.iter().map(Block::private_address).collect();
    assert_eq!(at, [at[0], at[0] + 512, at[0] + 512 + 20 * MIB]);
    assert_eq!(context.bytes_allocated().expect("alive") - before, 105 + 20 * MIB);
    drop(blocks.remove(1));
    assert!(is_released(at[1]) && !is_released(at[0]) && !is_released(at[2]));
    assert_eq!(allocate(&context, 20 * MIB - 5).private_address(), at[1]);
    drop(blocks);
    assert_eq!(context.bytes_allocated().expect("alive"), before);
    assert!(Block::suballocate(&context, &[]).expect("nothing to do").is_empty());
}

#[test]
fn memory_released_before_a_completed_fence_is_reused() {
    let (_guard, context) = alone();
    let (early, late) = (allocate(&context, LARGE), allocate(&context, LARGE));
    let at = |block: &Block| block.address(&Ready::by_caller());
    let (early_at, late_at) = (at(&early), at(&late));
    let first = Gate::on_default_stream(&context);
    drop(early);
    drop(allocate(&context, LARGE)); // records the fence
    let second = Gate::on_default_stream(&context);
    drop(late);
    first.open();
    // The default stream is busy with the second piece of work all the time.
    let mut found = allocate(&context, LARGE);
    for _ in 0..1000 {
        if at(&found) == early_at {
            break;
        }
        assert_ne!(at(&found), late_at);
        thread::sleep(Duration::from_millis(1));
        found = allocate(&context, LARGE);
    }
    assert_eq!(at(&found), early_at);
    drop(second);
    context.synchronize().expect("alive");
}

#[test]
fn an_allocation_asks_for_few_fences() {
    let (_guard, context) = alone();
    let gate = Gate::on_default_stream(&context);
    let miss = || calls_of(c"cuEventQuery", || allocate(&context, LARGE).expose());
    let calls: Vec<_> = (0..12).map(|_| miss()).collect();
    assert!(calls[9..].iter().all(|count| *count <= Some(6)), "{calls:?}");
    gate.open();
    context.synchronize().expect("alive");
}

#[test]
fn memory_of_other_processes_is_not_cached() {
    let (_guard, context) = alone();
    let before = Device.stats(&context);
    let (lent, exported) = (allocate(&context, LARGE), allocate(&context, 1000));
    let current = context.enter().expect("alive");
    prepare_sharing(&current, lent.address(&Ready::by_caller()) + LARGE - 1).expect("alive");
    retain_exported(exported.address(&Ready::by_caller()));
    drop((lent, exported));
    Device.empty(&context);
    let after = Device.stats(&context);
    assert_eq!((after.cached_blocks, after.driver_frees), (0, before.driver_frees + 1));
    assert_eq!(after.reserved_bytes, before.reserved_bytes + 2 * MIB);
    assert_eq!(after.allocated_bytes, before.allocated_bytes + 1000);
    // Freeing the block removes the mark.
    drop(allocate(&context, LARGE));
    assert_eq!(Device.stats(&context).cached_blocks, 1);
}

#[test]
fn memory_in_flight_is_waited_for_when_memory_runs_out() {
    let (_guard, context) = alone();
    let total = context.device().total_memory().expect("a device");
    context.cache().set_limit(total).expect("alive");
    let most = context.free_memory().expect("alive") / 8 * 7;
    drop(allocate(&context, most));
    // Both lie in one segment, which cannot go back to the driver.
    let (kept, released) = (allocate(&context, most / 4), allocate(&context, most / 2));
    let address = released.address(&Ready::by_caller());
    assert!(kept.shares_segment(&released));
    let gate = Gate::on_default_stream(&context);
    drop(released);
    let waiting = context.clone();
    let found = thread::spawn(move || allocate(&waiting, most / 2).private_address());
    thread::sleep(Duration::from_millis(20));
    gate.open();
    assert_eq!(found.join().expect("room, once the work is complete"), address);
    drop(kept);
    context.cache().empty().expect("alive");
}

#[test]
fn a_release_does_not_wait_for_a_thread_that_waits_for_memory() {
    let (_guard, context) = alone();
    context.cache().set_limit(LARGE).expect("alive");
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
fn a_borrowed_context_reclaims_the_cache_of_the_primary_one() {
    let (_guard, context) = alone();
    if !is_simulated().expect("a driver") {
        return; // whose memory other processes use, too
    }
    let (theirs, handle) = their_context();
    let total = context.device().total_memory().expect("a device");
    context.cache().set_limit(total).expect("alive");
    drop(allocate(&context, total / 8 * 5));
    drop(allocate(&theirs, total / 8 * 4));
    assert_eq!(Device.stats(&context).cached_bytes, 0);
    drop(theirs);
    destroy(handle);
}
