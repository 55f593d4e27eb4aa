use super::classes::{ALIGNMENT, MAX_SMALL, SEGMENT};
use super::slack::MAX_SLACK;
use super::*;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 1 << 30;
/// How far apart the model's driver puts segments; some touch each other.
const APART: u64 = 1 << 40;

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64, Placement),
    /// Sizes of blocks that lie one after the other.
    Suballocate(Vec<u64>),
    /// The block in use of that index, modulo how many there are, and whether it is exposed.
    Release(usize, bool),
    Resize(usize, u64),
    /// Who may reach the block, and whether its residue could be wiped.
    Share(usize, Access, bool),
    /// The work of all releases but that many last ones is found complete.
    Complete(u64),
    Limit(u64),
    TakeSurplus(u64),
    Clear,
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..5000, 1u64..=MAX_SMALL, 1u64..20 * MIB, 1u64..200 * MIB]
}

fn step() -> impl Strategy<Value = Step> {
    let access = prop_oneof![Just(Access::Lent), Just(Access::Exported)];
    let placement = prop_oneof![Just(Placement::Alone), Just(Placement::Packed)];
    let sizes = prop::collection::vec(1u64..2 * MIB, 1..6);
    let index = any::<usize>;
    prop_oneof![
        10 => (size(), placement).prop_map(|(size, placement)| Step::Allocate(size, placement)),
        1 => sizes.prop_map(Step::Suballocate),
        9 => (index(), any::<bool>()).prop_map(|(at, is_exposed)| Step::Release(at, is_exposed)),
        2 => (index(), size()).prop_map(|(at, size)| Step::Resize(at, size)),
        1 => (index(), access, any::<bool>())
            .prop_map(|(at, access, is_wiped)| Step::Share(at, access, is_wiped)),
        3 => (0u64..4).prop_map(Step::Complete),
        1 => (0u64..LIMIT).prop_map(Step::Limit),
        1 => (0u64..100 * MIB).prop_map(Step::TakeSurplus),
        1 => Just(Step::Clear),
    ]
}

/// A model without the ledger: who uses which addresses, and which must not be handed out.
#[derive(Default)]
struct Model {
    in_use: BTreeMap<u64, (u64, Access)>,
    /// Blocks that were released as exported ones: nobody gets them again.
    exported: BTreeMap<u64, u64>,
    /// Addresses and sizes that somebody may still use until the work of a release is complete.
    withheld: Vec<(u64, (u64, u64))>,
    segments: BTreeMap<u64, u64>,
    next: u64,
}

fn overlap(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 < other.0 + other.1 && other.0 < one.0 + one.1
}

impl Model {
    fn pick(&self, index: usize) -> Option<u64> {
        let count = self.in_use.len();
        (count > 0).then(|| *self.in_use.keys().nth(index % count).expect("fewer"))
    }

    fn is_used(&self, range: (u64, u64)) -> bool {
        let in_use = self.in_use.iter().map(|(at, (size, _))| (*at, *size));
        let exported = self.exported.iter().map(|(at, size)| (*at, *size));
        in_use.chain(exported).any(|it| overlap(it, range))
    }

    fn add(&mut self, address: u64, size: u64, access: Access) -> Result<(), TestCaseError> {
        let (start, capacity) = self.segments.range(..=address).next_back().expect("a segment");
        prop_assert!(address + size <= start + capacity, "beyond its segment");
        prop_assert_eq!(address % ALIGNMENT, 0);
        prop_assert!(!self.is_used((address, size)), "handed out twice");
        for (_, other) in &self.withheld {
            prop_assert!(!overlap((address, size), *other), "handed out too early: {:?}", other);
        }
        self.in_use.insert(address, (size, access));
        Ok(())
    }

    fn free(&mut self, freed: impl IntoIterator<Item = Segment>) -> Result<(), TestCaseError> {
        for Segment { address, capacity, may_have_users, .. } in freed {
            prop_assert_eq!(self.segments.remove(&address), Some(capacity));
            prop_assert!(!self.is_used((address, capacity)), "freed while in use");
            let is_in_flight = |(release, it): &(u64, (u64, u64))| {
                *release != u64::MAX && overlap((address, capacity), *it)
            };
            let is_known = may_have_users || !self.withheld.iter().any(is_in_flight);
            prop_assert!(is_known, "freed without a wait");
            self.withheld.retain(|(_, it)| !overlap((address, capacity), *it));
        }
        Ok(())
    }
}

fn allocate(
    ledger: &mut Ledger,
    model: &mut Model,
    request: &Request,
) -> Result<u64, TestCaseError> {
    let fits = |block: &&Block| {
        let is_ready = block.state == State::Ready && block.capacity >= request.capacity;
        is_ready && ledger.segments[&block.segment].class == request.class
    };
    let smallest = ledger.blocks.values().filter(fits).map(|block| block.capacity).min();
    if let Some((address, segment)) = ledger.reuse(request) {
        let block = ledger.blocks[&address];
        let is_best = block.is_alone || smallest == Some(block.capacity);
        prop_assert!(block.capacity == request.capacity || is_best);
        prop_assert_eq!(block.segment, segment);
        return Ok(address);
    }
    prop_assert!(!ledger.may_serve_later(request) || !model.withheld.is_empty());
    let capacity = ledger.segment_size(request);
    prop_assert!(capacity >= request.capacity);
    model.next += if model.next.is_multiple_of(3) { APART } else { 0 };
    let address = model.next;
    model.next += capacity.next_multiple_of(SEGMENT);
    model.segments.insert(address, capacity);
    prop_assert_eq!(ledger.add(address, capacity, request), (address, address));
    Ok(address)
}

/// The blocks tile the segments, and every total is the sum of what it counts.
fn check(ledger: &Ledger, model: &Model) -> Result<(), TestCaseError> {
    let mut tiles = 0;
    for segment in ledger.segments.values() {
        prop_assert_eq!(model.segments.get(&segment.address), Some(&segment.capacity));
        let (mut at, mut was_ready) = (segment.address, false);
        for (address, block) in ledger.blocks.range(segment.addresses()) {
            prop_assert_eq!((*address, block.segment), (at, segment.address));
            let is_ready = block.state == State::Ready;
            prop_assert!(!(was_ready && is_ready), "ready neighbours are merged");
            (at, was_ready) = (at + block.capacity, is_ready);
            tiles += 1;
        }
        prop_assert_eq!(at, segment.addresses().end);
    }
    prop_assert_eq!(ledger.blocks.len(), tiles);
    let alone = ledger.blocks.values().filter(|block| block.is_alone);
    let slack: u64 = alone.map(|block| block.capacity - block.size).sum();
    prop_assert_eq!(ledger.slack.bytes, slack);
    prop_assert!(slack <= MAX_SLACK);
    let stats = ledger.account.stats;
    prop_assert_eq!(stats.reserved_bytes, model.segments.values().sum::<u64>());
    let in_use: u64 = model.in_use.values().map(|(size, _)| size).sum();
    prop_assert_eq!(stats.allocated_bytes, in_use + model.exported.values().sum::<u64>());
    prop_assert!(stats.peak_allocated_bytes >= stats.allocated_bytes);
    let unused = model.segments.iter().filter(|it| !model.is_used((*it.0, *it.1)));
    let (bytes, count) = unused.fold((0, 0), |sum, it| (sum.0 + it.1, sum.1 + 1));
    prop_assert_eq!((stats.cached_bytes, stats.cached_blocks), (bytes, count));
    for (address, (size, _)) in &model.in_use {
        let end = address + ledger.blocks[address].capacity;
        prop_assert_eq!(ledger.block_at(end - 1, *address), Some((*address, *size)));
        prop_assert!(!ledger.is_idle(end - 1));
        if end - address > 1 {
            let behind = ledger.block_at(end - 1, address + 1);
            prop_assert!(behind.is_none(), "its memory begins before");
        }
    }
    for (_, (address, size)) in &model.withheld {
        prop_assert!(ledger.is_idle(*address) && ledger.block_at(address + size - 1, 0).is_none());
    }
    Ok(())
}

fn take(ledger: &mut Ledger, model: &mut Model, step: Step) -> Result<(), TestCaseError> {
    match step {
        Step::Allocate(size, placement) => {
            let request = ledger.request(size, placement);
            let packed = request.packed();
            prop_assert!(request.capacity >= size && packed.capacity >= size && !packed.is_alone);
            prop_assert!(packed.capacity <= request.capacity || !request.is_cacheable);
            let address = allocate(ledger, model, &request)?;
            model.add(address, size, Access::Process)?;
            let block = ledger.blocks[&address];
            prop_assert!(block.is_alone || !request.is_alone);
            if block.is_alone {
                let least = request.alone.expect("it may be");
                prop_assert!((least..=least / 4 * 5).contains(&block.capacity));
                prop_assert_eq!(model.segments.get(&address), Some(&block.capacity));
            }
        }
        Step::Suballocate(sizes) => {
            let whole = sizes.iter().map(|size| aligned(*size)).sum();
            let request = ledger.request(whole, Placement::Packed);
            let mut address = allocate(ledger, model, &request)?;
            ledger.divide(address, &sizes);
            for size in sizes {
                model.add(address, size, Access::Process)?;
                address += aligned(size);
            }
        }
        Step::Release(index, is_exposed) => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            let (size, access) = model.in_use.remove(&address).expect("picked");
            ledger.release(address + size / 2, is_exposed);
            match access {
                Access::Exported => drop(model.exported.insert(address, size)),
                Access::Lent => model.withheld.push((u64::MAX, (address, size))),
                Access::Process if !is_exposed => {}
                Access::Process => model.withheld.push((ledger.last_release, (address, size))),
            }
            model.free(ledger.take_finished())?;
            let after = ledger.account.stats;
            ledger.release(address, is_exposed);
            prop_assert_eq!(ledger.account.stats, after, "once is enough");
        }
        Step::Resize(index, size) => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            let (was, kept) = (ledger.blocks[&address].capacity, model.in_use[&address]);
            if ledger.resize(address, size) {
                let capacity = ledger.blocks[&address].capacity;
                prop_assert!(capacity >= size);
                if capacity < was {
                    let rest = (address + capacity, was - capacity);
                    model.withheld.push((ledger.last_release, rest));
                }
                model.in_use.remove(&address);
                model.add(address, size, kept.1)?;
            }
        }
        Step::Share(index, access, is_wiped) => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            prop_assert_eq!(ledger.widen(address, access), Some(address));
            let known = &mut model.in_use.get_mut(&address).expect("picked").1;
            *known = (*known).max(Access::Lent).max(access);
            let residue = ledger.share(address).expect("in use");
            for range in &residue {
                let is_withheld = model.withheld.iter().any(|(_, it)| overlap(*it, *range));
                prop_assert!(!is_withheld && !model.is_used(*range), "wiped in use");
                prop_assert!(ledger.block_at(range.0 + range.1 - 1, range.0).is_none());
            }
            ledger.finish_sharing(&residue, is_wiped);
            let mut neighbours = residue;
            neighbours.retain(|(at, _)| *at != address + model.in_use[&address].0);
            if !is_wiped {
                let first = ledger.last_release + 1 - neighbours.len() as u64;
                model.withheld.extend((first..).zip(neighbours));
            } else {
                let again = ledger.share(address).expect("in use");
                prop_assert!(again.len() <= 1, "the residue of others is gone");
                ledger.finish_sharing(&again, true);
            }
        }
        Step::Complete(but) => {
            let up_to = ledger.last_release.saturating_sub(but);
            ledger.mark_complete(up_to);
            model.withheld.retain(|(release, _)| *release > up_to);
        }
        Step::Limit(bytes) => {
            ledger.account.limit = Some(bytes);
            let freed = ledger.remove_beyond_limit();
            model.free(freed)?;
            prop_assert!(ledger.account.stats.cached_bytes <= bytes);
        }
        Step::TakeSurplus(needed) => {
            let withheld = model.withheld.len();
            let freed = ledger.take_surplus(needed);
            model.free(freed)?;
            prop_assert_eq!(model.withheld.len(), withheld, "what is in flight stays");
        }
        Step::Clear => {
            let freed = ledger.clear();
            model.free(freed)?;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn memory_is_handed_out_once_and_comes_back(
        steps in prop::collection::vec(step(), 1..150), is_cached in prop::bool::weighted(0.9),
    ) {
        let mut ledger = with_limit(if is_cached { LIMIT } else { 0 });
        let mut model = Model::default();
        for step in steps {
            take(&mut ledger, &mut model, step)?;
            check(&ledger, &model)?;
        }
        // Once everything is released and complete, the driver gets all of it but what is exported.
        while model.pick(0).is_some() {
            take(&mut ledger, &mut model, Step::Release(0, true))?;
        }
        take(&mut ledger, &mut model, Step::Complete(0))?;
        take(&mut ledger, &mut model, Step::Clear)?;
        check(&ledger, &model)?;
        prop_assert!(model.segments.iter().all(|it| model.is_used((*it.0, *it.1))));
    }
}

fn with_limit(limit: u64) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.account.limit = Some(limit);
    ledger
}

/// Allocates from a driver that puts each segment at the next multiple of `APART`, once it has got back what is
/// beyond the peak.
fn add(ledger: &mut Ledger, size: u64, placement: Placement) -> u64 {
    let request = ledger.request(size, placement);
    if let Some((address, _)) = ledger.reuse(&request) {
        return address;
    }
    let capacity = ledger.segment_size(&request);
    drop(ledger.take_surplus(capacity));
    let address = (ledger.account.stats.driver_allocations + 1) * APART;
    ledger.add(address, capacity, &request);
    address
}

fn add_all<const N: usize>(ledger: &mut Ledger, mebibytes: [u64; N]) -> [u64; N] {
    mebibytes.map(|size| add(ledger, size * MIB, Placement::Packed))
}

fn release(ledger: &mut Ledger, addresses: &[u64]) {
    for address in addresses {
        ledger.release(*address, false);
    }
}

/// Takes a block that is ready, if one fits.
fn reuse(ledger: &mut Ledger, mebibytes: u64) -> Option<u64> {
    ledger.reuse(&ledger.request(mebibytes * MIB, Placement::Packed)).map(|(address, _)| address)
}

#[test]
fn once_much_is_wasted_no_segment_is_made_for_one_block_until_most_of_that_is_back() {
    let mut ledger = with_limit(LIMIT);
    let is_alone = |ledger: &Ledger, size| ledger.request(size, Placement::Alone).is_alone;
    let mut blocks = Vec::new();
    while is_alone(&ledger, 100) {
        blocks.push(add(&mut ledger, 100, Placement::Alone));
        assert_eq!(ledger.segments[blocks.last().expect("added")].capacity, SEGMENT);
    }
    assert_eq!(blocks.len() as u64, MAX_SLACK / (SEGMENT - 100));
    assert!(!is_alone(&ledger, 5 * MIB + 1), "its share is wasted");
    let first = blocks[0];
    release(&mut ledger, &[first]);
    assert_eq!(add(&mut ledger, 100, Placement::Alone), first, "a vacant segment serves");
    assert!(ledger.blocks[&first].is_alone);
    release(&mut ledger, &[first]);
    assert_eq!(add(&mut ledger, 100, Placement::Packed), first);
    let second = add(&mut ledger, 100, Placement::Alone);
    assert_eq!(second, first + 512, "none is vacant, and another has room");
    let last = blocks.len() * 3 / 4 - 1;
    for address in &blocks[1..last] {
        assert!(!is_alone(&ledger, 100));
        release(&mut ledger, &[*address]);
    }
    assert!(!is_alone(&ledger, 100), "more than a quarter is wasted");
    release(&mut ledger, &blocks[last..=last]);
    assert!(is_alone(&ledger, 100));
}

#[test]
fn a_vacant_segment_is_split_while_memory_is_plentiful() {
    let mut ledger = with_limit(LIMIT);
    let [large] = add_all(&mut ledger, [100]);
    release(&mut ledger, &[large]);
    let parts = add_all(&mut ledger, [40, 30, 30]);
    assert_eq!(parts, [large, large + 40 * MIB, large + 70 * MIB]);
    let [other] = add_all(&mut ledger, [100]);
    release(&mut ledger, &[other]);
    assert_eq!(reuse(&mut ledger, 70), None, "memory is scarce");
    assert_eq!(reuse(&mut ledger, 90), Some(other));
}

#[test]
fn segments_are_split_as_long_as_that_leaves_little() {
    let mut ledger = with_limit(LIMIT);
    let [_, first, second] = add_all(&mut ledger, [1000, 300, 300]);
    release(&mut ledger, &[first, second]);
    assert_eq!(reuse(&mut ledger, 220), Some(first));
    assert_eq!(reuse(&mut ledger, 220), None, "80 MiB are left already");
    assert_eq!(reuse(&mut ledger, 270), Some(second));
}

#[test]
fn smaller_segments_stay_as_long_as_they_hold_little() {
    let mut ledger = with_limit(LIMIT);
    let large = add_all(&mut ledger, [200]);
    release(&mut ledger, &large);
    assert_eq!(add_all(&mut ledger, [20]), large);
    let medium = add_all(&mut ledger, [10; 7]);
    release(&mut ledger, &medium[..6]);
    assert!(ledger.account.stats.cached_bytes > 0);
    assert!(!ledger.has_surplus(190 * MIB) && ledger.take_surplus(190 * MIB).is_empty());
    release(&mut ledger, &medium[6..]);
    assert!(ledger.has_surplus(190 * MIB) && !ledger.take_surplus(190 * MIB).is_empty());
}

#[test]
fn an_allocation_returns_few_segments_at_once() {
    let mut ledger = with_limit(LIMIT);
    let blocks = add_all(&mut ledger, [16; 40]);
    release(&mut ledger, &blocks);
    let returned = [0; 3].map(|_| ledger.take_surplus(800 * MIB).len());
    assert_eq!(returned, [16, 13, 0]);
    ledger.account.limit = Some(0);
    assert_eq!(ledger.remove_beyond_limit().len(), 11, "a limit holds at once");
}

#[test]
fn what_was_needed_at_the_peak_is_kept_until_the_cache_is_emptied() {
    let mut ledger = with_limit(LIMIT);
    let blocks = add_all(&mut ledger, [100, 80, 60]);
    release(&mut ledger, &blocks[1..]);
    assert!(ledger.take_surplus(40 * MIB).is_empty() && !ledger.has_surplus(40 * MIB));
    assert!(ledger.has_surplus(90 * MIB));
    let surplus: Vec<_> = ledger.take_surplus(90 * MIB).iter().map(|it| it.address).collect();
    assert_eq!(surplus, blocks[1..2], "the one that was vacant for longest");
    assert_eq!(ledger.clear().len(), 1);
    let other = add_all(&mut ledger, [60]);
    release(&mut ledger, &other);
    assert!(ledger.has_surplus(60 * MIB));
}

#[test]
fn residue_is_known_until_it_is_wiped() {
    let mut ledger = with_limit(LIMIT);
    let add = |ledger: &mut Ledger, size| add(ledger, size, Placement::Packed);
    let (first, second) = (add(&mut ledger, 1024), add(&mut ledger, 1000));
    assert_eq!(ledger.share(second), Some(vec![]), "fresh memory has none");
    ledger.release(first, false);
    let residue = ledger.share(second).expect("in use");
    assert_eq!(residue, [(first, 1024)]);
    assert_ne!(add(&mut ledger, 1024), first, "not while it is wiped");
    ledger.finish_sharing(&residue, false);
    assert!(ledger.has_in_flight() && add(&mut ledger, 1024) != first, "the wipe may be in flight");
    ledger.mark_complete(ledger.last_release);
    assert_eq!(ledger.share(second), Some(residue.clone()));
    ledger.finish_sharing(&residue, true);
    assert_eq!(ledger.share(second), Some(vec![]));
    let again = add(&mut ledger, 600);
    assert_eq!(again, first);
    assert_eq!(ledger.share(again), Some(vec![]), "wiped, and not used since");
    assert_eq!(ledger.share(first + 4096), None, "not in use");
}

/// Allocates and releases 20,000 times, of random sizes and with 8 GiB alive.  Returns how many bytes were reserved for
/// each that was needed.
pub(super) fn reserved_for_random_sizes(
    ledger: &mut Ledger,
    mut random: TestRng,
    mut add: impl FnMut(&mut Ledger, u64) -> u64,
) -> f64 {
    let (mut alive, mut live) = (Vec::new(), 0);
    for _ in 0..20_000 {
        let size = 2f64.powf(random.random_range(10.0..28.0)) as u64;
        if !alive.is_empty() && (live + size > 8 << 30 || random.random_bool(0.45)) {
            let (address, gone) = alive.swap_remove(random.random_range(0..alive.len()));
            live -= gone;
            ledger.release(address, false);
        } else {
            alive.push((add(ledger, size), size));
            live += size;
        }
    }
    let stats = &ledger.account.stats;
    stats.peak_reserved_bytes as f64 / stats.peak_allocated_bytes as f64
}

/// Reserved memory stays close to the memory that was needed.
#[test]
fn random_sizes_leave_little_unused() {
    let (mut ledger, random) =
        (with_limit(1 << 40), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let add = |ledger: &mut Ledger, size| add(ledger, size, Placement::Alone);
    let share = reserved_for_random_sizes(&mut ledger, random, add);
    let stats = ledger.account.stats;
    assert!(share < 1.25, "{share:.3}: {stats:?}");
    assert!(stats.driver_allocations + stats.driver_frees < 600, "{stats:?}");
}

#[test]
fn a_segment_that_cannot_go_yet_goes_later() {
    let mut ledger = with_limit(LIMIT);
    let request = ledger.request(40 * MIB, Placement::Packed);
    let capacity = ledger.segment_size(&request);
    ledger.add(APART, capacity, &request);
    ledger.release(APART, true);
    let removed = ledger.clear();
    assert!(removed.len() == 1 && removed[0].may_have_users);
    ledger.postpone(&removed[0]);
    assert_eq!(ledger.account.stats.reserved_bytes, capacity);
    assert!(ledger.is_idle(APART) && ledger.reuse(&request).is_none());
    assert_eq!(ledger.take_finished().len(), 1);
    assert_eq!(ledger.account.stats.reserved_bytes, 0);
}
