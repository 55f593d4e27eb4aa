//! The history of device memory, and the contents of the pools, block by block.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{
    Block, BlockState, Context, MemoryAction, MemoryBlock, MemoryEvent, MemoryHistory,
    MemorySegment, Placement, Ready, SizeClass, memory_segments, prepare_sharing, retain_exported,
};
use arrow_cuda_driver::call;
use common::alone;
use std::collections::BTreeMap;
use std::thread;

const MIB: u64 = 1 << 20;

fn start() {
    assert!(MemoryHistory::start(1 << 20, || Some("here".into())).expect("no fork"));
}

fn stop() -> Vec<MemoryEvent> {
    MemoryHistory::stop().expect("no fork")
}

fn allocate(context: &Context, size: u64) -> Block {
    Block::allocate(context, size, Placement::Packed).expect("room")
}

fn segments_on(context: &Context) -> Vec<MemorySegment> {
    let is_ours = |it: &MemorySegment| !it.is_on_host && it.context.is_same(context);
    memory_segments().into_iter().filter(is_ours).collect()
}

fn block_of(context: &Context, address: u64) -> MemoryBlock {
    let blocks = segments_on(context).into_iter().flat_map(|segment| segment.blocks);
    blocks.into_iter().find(|block| block.address == address).expect("a block")
}

/// The sizes of segments, and of the blocks in use, by address.
type Memory = [BTreeMap<u64, u64>; 2];

fn memory_of(segments: &[MemorySegment]) -> Memory {
    let blocks = segments.iter().flat_map(|segment| &segment.blocks);
    let blocks = blocks.filter(|it| matches!(it.state, BlockState::InUse | BlockState::Shared));
    let blocks = blocks.map(|it| (it.address, it.requested)).collect();
    [segments.iter().map(|it| (it.address, it.size)).collect(), blocks]
}

/// Applies events to memory.  Each must be possible.
fn replay([mut segments, mut blocks]: Memory, events: &[MemoryEvent]) -> Memory {
    for event in events {
        let (start, end) = (event.address, event.address + event.size);
        match event.action {
            MemoryAction::AllocateSegment => {
                assert_eq!(segments.insert(start, event.size), None, "{event:?}");
            }
            MemoryAction::FreeSegment => {
                assert_eq!(segments.remove(&start), Some(event.size), "{event:?}");
                assert!(blocks.range(start..end).next().is_none(), "blocks in {event:?}");
            }
            MemoryAction::Allocate => {
                let segment = segments.range(..=start).next_back().expect("a segment");
                assert!(end <= segment.0 + segment.1, "{event:?} beyond its segment");
                let before = blocks.range(..end).next_back();
                assert!(before.is_none_or(|it| it.0 + it.1 <= start), "{event:?} overlaps");
                blocks.insert(start, event.size);
            }
            MemoryAction::Release => {
                assert_eq!(blocks.remove(&start), Some(event.size), "{event:?}");
            }
            new => panic!("{new:?}"),
        }
    }
    [segments, blocks]
}

#[test]
fn events_lead_to_what_the_pools_hold() {
    let (_alone, context) = alone();
    context.cache().empty().expect("alive");
    context.cache().set_limit(48 * MIB).expect("alive");
    let before = memory_of(&segments_on(&context)); // what another test has exported
    start();
    let work = |seed: u64| {
        let context = context.clone();
        move || {
            let mut held = Vec::new();
            for step in 0..300 {
                let random = (seed + step).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
                match random % 4 {
                    0 if !held.is_empty() => drop(held.swap_remove(random as usize % held.len())),
                    1 => held.extend(
                        Block::suballocate(&context, &[random % 900 + 1, 7]).expect("room"),
                    ),
                    2 => held.push(allocate(&context, random % 3000 + 1)),
                    _ => held.push(allocate(&context, random % (20 * MIB) + 1)),
                }
                held.truncate(12);
            }
            held
        }
    };
    let threads = [1, 1 << 32, 1 << 40].map(|seed| thread::spawn(work(seed)));
    let held: Vec<_> = threads.into_iter().flat_map(|it| it.join().expect("no panic")).collect();
    let (events, found) = (stop(), segments_on(&context));
    let ours = held.iter().map(|it| (it.private_address(), it.size()));
    let ours: BTreeMap<_, _> = ours.chain(before[1].clone()).collect();
    let after = replay(before, &events);
    assert_eq!(after, memory_of(&found));
    assert_eq!(after[1], ours);
    let freed = events.iter().filter(|event| event.action == MemoryAction::FreeSegment).count();
    assert!(freed > 0, "the limit has an effect");
    for segment in found {
        let tiled = segment.blocks.iter().map(|block| block.size).sum::<u64>();
        assert_eq!(tiled, segment.size);
    }
    context.cache().set_limit(512 * MIB).expect("alive");
}

#[test]
fn the_last_events_stay_and_the_origins_of_all_blocks() {
    let (_alone, context) = alone();
    assert!(MemoryHistory::start(3, || Some("there".into())).expect("no fork"));
    assert!(!MemoryHistory::start(9, || None).expect("no fork"), "it has begun");
    let (first, second) = (allocate(&context, 100), allocate(&context, 200));
    let address = second.private_address();
    drop([(); 5].map(|()| allocate(&context, 300)));
    assert_eq!(MemoryHistory::events().expect("no fork").len(), 3);
    assert_eq!(block_of(&context, address).origin.as_deref(), Some("there"));
    drop(second);
    let events = stop();
    let last = events.last().expect("an event");
    assert_eq!((last.action, last.address, last.size), (MemoryAction::Release, address, 200));
    assert_eq!(last.origin.as_deref(), Some("there"));
    assert_eq!(block_of(&context, first.private_address()).origin, None);
    drop(allocate(&context, 100));
    assert!(MemoryHistory::events().expect("no fork").is_empty());
}

#[test]
fn blocks_have_a_state_and_a_class() {
    let (_alone, context) = alone();
    context.cache().empty().expect("alive");
    let blocks = [1000, 2 * MIB, 17 * MIB].map(|size| allocate(&context, size));
    let classes: Vec<_> = segments_on(&context).iter().map(|it| it.class).collect();
    for class in [SizeClass::Small, SizeClass::Medium, SizeClass::Large] {
        assert!(classes.contains(&class), "{class:?}");
    }
    let [first, second, third] = blocks;
    let places = [&first, &second, &third].map(Block::private_address);
    let state_of = |place| block_of(&context, place).state;
    drop(first);
    assert_eq!(state_of(places[0]), BlockState::Free);
    third.expose();
    drop(third);
    assert_eq!(state_of(places[2]), BlockState::InFlight);
    start();
    prepare_sharing(&context.enter().expect("alive"), places[1]).expect("alive");
    assert!(retain_exported(second.address(&Ready::by_caller())));
    assert_eq!(state_of(places[1]), BlockState::Shared);
    drop(second);
    // Other processes keep it.
    assert_eq!(state_of(places[1]), BlockState::Shared);
    assert!(stop().is_empty());
}

#[test]
fn a_reset_ends_all_blocks_and_segments() {
    let (_alone, context) = alone();
    context.cache().empty().expect("alive");
    let before = memory_of(&segments_on(&context));
    start();
    let block = allocate(&context, 5 * MIB);
    let place = block.private_address();
    // SAFETY: takes no pointer.
    unsafe { call!(cuDevicePrimaryCtxReset_v2(0)) }.expect("a device");
    assert!(segments_on(&context).is_empty());
    Block::allocate(&context, 1, Placement::Packed).expect_err("its context is gone");
    drop(block);
    let events = stop();
    assert_eq!(replay(before, &events), Memory::default());
    let of_ours: Vec<_> = events.iter().filter(|it| it.address == place).collect();
    let actions: Vec<_> = of_ours.iter().map(|event| event.action).collect();
    use MemoryAction::{Allocate, AllocateSegment, FreeSegment, Release};
    assert_eq!(actions, [AllocateSegment, Allocate, Release, FreeSegment]);
}
