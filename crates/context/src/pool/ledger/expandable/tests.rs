use super::super::tests::reserved_for_random_sizes;
use super::super::{Access, Placement};
use super::*;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const GRANULARITY: u64 = 2 * MIB;
const START: u64 = 1 << 40;

fn expandable(addresses: u64) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.account.limit = Some(1 << 40);
    ledger.expands = true;
    ledger.add_range(START..START + addresses);
    ledger
}

/// Allocates as the pool does.  Returns the address, and how many chunks were moved and created.
fn add(ledger: &mut Ledger, size: u64) -> Option<(u64, usize, usize)> {
    let request = ledger.request(size, Placement::Alone);
    if let Some((address, _)) = ledger.reuse(&request) {
        return Some((address, 0, 0));
    }
    if !request.is_expandable() {
        let capacity = ledger.segment_size(&request);
        let address = (1 << 50) + (ledger.account.stats.driver_allocations << 40);
        return Some((ledger.add(address, capacity, &request).0, 0, 0));
    }
    let plan = ledger.plan(&request, GRANULARITY)?;
    let (moved, created) = (plan.moved.len(), plan.created.len());
    let mut next = plan.address;
    let sizes = plan.moved.iter().map(|chunk| (chunk.capacity, chunk.handle));
    for (capacity, handle) in sizes.chain(plan.created.iter().map(|size| (*size, 1))) {
        ledger.add_chunk(&Segment::of_chunk(next, capacity, handle), true);
        next += capacity;
    }
    plan.created.iter().for_each(|size| ledger.count_created(*size));
    Some((ledger.reuse(&request).expect("the plan makes room").0, moved, created))
}

/// The workload `random-reserved`, with other sequences.
#[test]
fn random_sizes_leave_little_unused_and_move_little() {
    for seed in 0..30 {
        let mut ledger = expandable(160 << 30);
        let (random, mut calls) = (TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]), 0);
        let share = reserved_for_random_sizes(&mut ledger, random, |ledger, size| {
            let (address, moved, created) = add(ledger, size).expect("addresses");
            calls += moved + created;
            address
        });
        assert!(share <= 1.08, "{share:.3}, seed {seed}: {:?}", ledger.account.stats);
        assert!(calls < 20_000 * 2 / 5, "{calls} chunks, seed {seed}");
    }
}

#[test]
fn a_request_without_addresses_is_served_elsewhere() {
    let mut ledger = expandable(4 * MIB);
    let request = ledger.request(9 * MIB, Placement::Alone);
    assert!(ledger.plan(&request, GRANULARITY).is_none());
    let request = request.unexpanded();
    let address = ledger.add(START + (1 << 30), ledger.segment_size(&request), &request).0;
    assert!(!ledger.is_expandable(address));
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64),
    Release(usize, bool),
    Complete,
    Limit(u64),
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![MIB + 1..4 * MIB, MIB + 1..100 * MIB];
    prop_oneof![
        8 => size.prop_map(Step::Allocate),
        7 => (any::<usize>(), any::<bool>()).prop_map(|(at, exposed)| Step::Release(at, exposed)),
        1 => Just(Step::Complete),
        1 => (1u64..1 << 30).prop_map(Step::Limit),
        1 => Just(Step::Clear),
    ]
}

fn check(ledger: &Ledger, in_use: &BTreeMap<u64, u64>) -> Result<(), TestCaseError> {
    let (mut at, mut before, mut free) = (START, None, 0);
    for (address, block) in &ledger.blocks {
        prop_assert_eq!((*address, block.segment), (at, START));
        at += block.capacity;
        let can_merge = matches!(block.state, State::Ready | State::Unmapped);
        prop_assert!(!(can_merge && before == Some(block.state)), "neighbours are merged");
        before = Some(block.state);
        let touching = ledger.chunks().into_iter();
        let touching = touching.filter(|it| it.address < at && it.address + it.capacity > *address);
        let within =
            |it: &Segment| it.address.clamp(*address, at)..(it.address + it.capacity).min(at);
        let backed: u64 = touching.clone().map(|it| within(&it).end - within(&it).start).sum();
        let expected = if block.state == State::Unmapped { 0 } else { block.capacity };
        prop_assert_eq!(backed, expected, "memory lies behind what is not unmapped");
        if block.state == State::Ready {
            let whole = touching.filter(|it| within(it).end - within(it).start == it.capacity);
            free += whole.map(|it| it.capacity).sum::<u64>();
        }
        let is_known = in_use.get(address) == Some(&block.size);
        prop_assert_eq!(is_known, matches!(block.state, State::InUse(Access::Process)));
    }
    prop_assert_eq!(at, ledger.range.end);
    let stats = ledger.stats();
    prop_assert_eq!(stats.cached_bytes, free);
    prop_assert_eq!(
        stats.reserved_bytes,
        ledger.chunks().iter().map(|it| it.capacity).sum::<u64>()
    );
    prop_assert_eq!(stats.allocated_bytes, in_use.values().sum::<u64>());
    for (address, size) in in_use {
        prop_assert_eq!(
            ledger.block_at(address + size - 1, address + size - 1),
            Some((*address, *size))
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn blocks_lie_in_chunks_and_chunks_come_back(steps in prop::collection::vec(step(), 1..120)) {
        let mut ledger = expandable(1 << 30);
        let mut in_use = BTreeMap::new();
        for step in steps.into_iter().chain([Step::Complete, Step::Clear]) {
            let mut freed = Vec::new();
            match step {
                Step::Allocate(size) => {
                    let Some((address, ..)) = add(&mut ledger, size) else { continue };
                    let last = in_use.range(..address + size).next_back();
                    prop_assert!(last.is_none_or(|(at, size): (&u64, &u64)| *at + *size <= address), "twice");
                    in_use.insert(address, size);
                }
                Step::Release(index, is_exposed) if !in_use.is_empty() => {
                    let address = *in_use.keys().nth(index % in_use.len()).expect("fewer");
                    in_use.remove(&address);
                    ledger.release(address, is_exposed);
                }
                Step::Release(..) => {}
                Step::Complete => ledger.mark_complete(ledger.last_release),
                Step::Limit(bytes) => {
                    ledger.account.limit = Some(bytes);
                    freed = ledger.remove_beyond_limit();
                    prop_assert!(ledger.stats().cached_bytes <= bytes);
                }
                Step::Clear => freed = ledger.clear(),
            }
            // One of them may be lost.
            freed.iter().for_each(|chunk| ledger.vacate(chunk));
            check(&ledger, &in_use)?;
        }
        prop_assert_eq!(ledger.stats().cached_bytes, 0);
    }
}
