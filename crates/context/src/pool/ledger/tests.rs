use super::classes::{ALIGNMENT, MAX_SMALL, SEGMENT};
use super::slack::MAX_SLACK;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 1 << 30;
/// How far apart the model's driver puts segments; some touch each other.
const APART: u64 = 1 << 40;

#[derive(Clone, Debug)]
enum Step {
    Allocate {
        size: u64,
        placement: Placement,
    },
    AllocateAdjacent {
        sizes: Vec<u64>,
    },
    /// The block in use of that index, modulo how many there are.
    Release {
        index: usize,
        is_exposed: bool,
    },
    Resize {
        index: usize,
        size: u64,
    },
    Share {
        index: usize,
        access: Access,
        is_wiped: bool,
    },
    /// The work of all releases but the last `but` is found complete.
    Complete {
        but: u64,
    },
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
    prop_oneof![
        10 => (size(), placement).prop_map(|(size, placement)| Step::Allocate { size, placement }),
        1 => sizes.prop_map(|sizes| Step::AllocateAdjacent { sizes }),
        9 => (any::<usize>(), any::<bool>())
            .prop_map(|(index, is_exposed)| Step::Release { index, is_exposed }),
        2 => (any::<usize>(), size()).prop_map(|(index, size)| Step::Resize { index, size }),
        1 => (any::<usize>(), access, any::<bool>())
            .prop_map(|(index, access, is_wiped)| Step::Share { index, access, is_wiped }),
        3 => (0u64..4).prop_map(|but| Step::Complete { but }),
        1 => (0u64..LIMIT).prop_map(Step::Limit),
        1 => (0u64..100 * MIB).prop_map(Step::TakeSurplus),
        1 => Just(Step::Clear),
    ]
}

/// A model without the ledger: who uses which addresses, and which must not be handed out.
#[derive(Default)]
struct Model {
    /// Address, size and access of the blocks in use.
    in_use: BTreeMap<u64, (u64, Access)>,
    /// Blocks that were released as exported ones: nobody gets them again.
    exported: BTreeMap<u64, u64>,
    /// Ranges that work in flight may use, by release.
    in_flight: BTreeMap<u64, (u64, u64)>,
    /// The driver's segments.
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

    fn add(&mut self, address: u64, size: u64) -> Result<(), TestCaseError> {
        let (start, capacity) = self.segments.range(..=address).next_back().expect("a segment");
        prop_assert!(address + size <= start + capacity, "beyond its segment");
        prop_assert_eq!(address % ALIGNMENT, 0);
        let used = self.in_use.iter().map(|(at, (size, _))| (*at, *size));
        let exported = self.exported.iter().map(|(at, size)| (*at, *size));
        for other in used.chain(exported).chain(self.in_flight.values().copied()) {
            prop_assert!(!overlap((address, size), other), "handed out twice: {:?}", other);
        }
        self.in_use.insert(address, (size, Access::Process));
        Ok(())
    }

    /// The driver frees segments.
    fn free(&mut self, freed: impl IntoIterator<Item = Segment>) -> Result<(), TestCaseError> {
        for segment in freed {
            let range = (segment.address, segment.capacity);
            prop_assert_eq!(self.segments.remove(&segment.address), Some(segment.capacity));
            for (address, (size, _)) in &self.in_use {
                prop_assert!(!overlap(range, (*address, *size)), "freed while in use");
            }
            prop_assert!(self.exported.iter().all(|it| !overlap(range, (*it.0, *it.1))));
            self.in_flight.retain(|_, it| !overlap(range, *it));
        }
        Ok(())
    }
}

fn allocate(
    ledger: &mut Ledger,
    model: &mut Model,
    request: &Request,
) -> Result<u64, TestCaseError> {
    let smallest_fit = |ledger: &Ledger| {
        let ready = ledger.blocks.iter().filter(|(_, block)| block.state == State::Ready);
        let class_of = |at: u64| ledger.segments[&at].class;
        let fitting = ready.filter(|(_, block)| {
            class_of(block.segment) == request.class && block.capacity >= request.capacity
        });
        fitting.map(|(_, block)| block.capacity).min()
    };
    let smallest = smallest_fit(ledger);
    match ledger.reuse(request) {
        Some((address, _)) => {
            let (_, block) = ledger.containing(address).expect("just taken");
            let is_best = block.is_alone || smallest == Some(block.capacity);
            prop_assert!(block.capacity == request.capacity || is_best);
            Ok(address)
        }
        None => {
            prop_assert!(!ledger.may_serve_later(request) || !model.in_flight.is_empty());
            let capacity = ledger.segment_size(request);
            prop_assert!(capacity >= request.capacity);
            model.next += if model.next.is_multiple_of(3) { APART } else { 0 };
            let address = model.next;
            model.next += capacity.next_multiple_of(SEGMENT);
            model.segments.insert(address, capacity);
            ledger.add(address, capacity, request);
            Ok(address)
        }
    }
}

/// The blocks tile the segments, and every total is the sum of what it counts.
fn check(ledger: &Ledger, model: &Model) -> Result<(), TestCaseError> {
    let blocks: Vec<_> = ledger.blocks.iter().collect();
    let mut tiles = blocks.iter().peekable();
    for segment in ledger.segments.values() {
        prop_assert_eq!(model.segments.get(&segment.address), Some(&segment.capacity));
        let mut at = segment.address;
        let mut was_ready = false;
        while at < segment.address + segment.capacity {
            let (address, block) = tiles.next().expect("a block");
            prop_assert_eq!((**address, block.segment), (at, segment.address));
            let is_ready = block.state == State::Ready;
            prop_assert!(!(was_ready && is_ready), "ready neighbours are merged");
            was_ready = is_ready;
            at += block.capacity;
        }
        prop_assert_eq!(at, segment.address + segment.capacity);
    }
    prop_assert!(tiles.peek().is_none());
    let alone = blocks.iter().filter(|(_, block)| block.is_alone);
    let slack: u64 = alone.map(|(_, block)| block.capacity - block.size).sum();
    prop_assert_eq!(ledger.slack.bytes, slack);
    prop_assert!(slack <= MAX_SLACK);
    let stats = ledger.account.stats;
    prop_assert_eq!(stats.reserved_bytes, model.segments.values().sum::<u64>());
    let in_use: u64 = model.in_use.values().map(|(size, _)| size).sum();
    prop_assert_eq!(stats.allocated_bytes, in_use + model.exported.values().sum::<u64>());
    prop_assert!(stats.peak_allocated_bytes >= stats.allocated_bytes);
    let is_unused = |segment: &(&u64, &u64)| {
        let within = (*segment.0, *segment.1);
        let used = model.in_use.iter().map(|(at, (size, _))| (*at, *size));
        let exported = model.exported.iter().map(|(at, size)| (*at, *size));
        !used.chain(exported).any(|it| overlap(it, within))
    };
    let unused = model.segments.iter().filter(is_unused);
    let (bytes, count) = unused.fold((0, 0), |sum, it| (sum.0 + it.1, sum.1 + 1));
    prop_assert_eq!((stats.cached_bytes, stats.cached_blocks), (bytes, count));
    for (address, (size, _)) in &model.in_use {
        prop_assert_eq!(ledger.block_at(address + size - 1, *address), Some((*address, *size)));
        prop_assert!(!ledger.is_idle(address + size - 1));
    }
    for (address, size) in model.in_flight.values() {
        prop_assert!(ledger.is_idle(*address) && ledger.block_at(address + size - 1, 0).is_none());
    }
    Ok(())
}

fn take(ledger: &mut Ledger, model: &mut Model, step: Step) -> Result<(), TestCaseError> {
    match step {
        Step::Allocate { size, placement } => {
            let request = ledger.request(size, placement);
            prop_assert!(request.capacity >= size);
            let address = allocate(ledger, model, &request)?;
            model.add(address, size)?;
            let block = *ledger.blocks.get(&address).expect("just taken");
            prop_assert!(block.is_alone || !request.is_alone);
            if block.is_alone {
                let least = request.alone.expect("it may be");
                let whole = *model.segments.get(&address).expect("at the start of one");
                prop_assert!((least..=least / 4 * 5).contains(&whole));
                prop_assert_eq!(block.capacity, whole);
            }
        }
        Step::AllocateAdjacent { sizes } => {
            let whole = sizes.iter().map(|size| aligned(*size)).sum();
            let request = ledger.request(whole, Placement::Packed);
            let mut address = allocate(ledger, model, &request)?;
            ledger.divide(address, &sizes);
            for size in sizes {
                model.add(address, size)?;
                address += aligned(size);
            }
        }
        Step::Release { index, is_exposed } => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            let (size, access) = model.in_use.remove(&address).expect("picked");
            let before = ledger.last_release;
            ledger.release(address + size / 2, is_exposed);
            if access == Access::Exported {
                model.exported.insert(address, size);
            } else if access == Access::Process && ledger.last_release > before {
                prop_assert!(is_exposed);
                model.in_flight.insert(ledger.last_release, (address, size));
            }
            model.free(ledger.take_finished())?;
            let after = ledger.account.stats;
            ledger.release(address, is_exposed);
            prop_assert_eq!(ledger.account.stats, after, "once is enough");
        }
        Step::Resize { index, size } => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            let (before, was) = (ledger.last_release, *ledger.blocks.get(&address).unwrap());
            let kept = model.in_use.remove(&address).expect("picked");
            if !ledger.resize(address, size) {
                model.in_use.insert(address, kept);
                return Ok(());
            }
            let capacity = ledger.blocks.get(&address).unwrap().capacity;
            prop_assert!(capacity >= size);
            if ledger.last_release > before {
                let rest = (address + capacity, was.capacity - capacity);
                model.in_flight.insert(ledger.last_release, rest);
            }
            model.add(address, size)?;
            model.in_use.get_mut(&address).expect("added").1 = kept.1;
        }
        Step::Share { index, access, is_wiped } => {
            let Some(address) = model.pick(index) else { return Ok(()) };
            prop_assert_eq!(ledger.widen(address, access), Some(address));
            let residue = ledger.share(address).expect("in use");
            let used = model.in_use.iter().map(|(at, (size, _))| (*at, *size));
            for other in used.chain(model.in_flight.values().copied()) {
                prop_assert!(residue.iter().all(|it| !overlap(*it, other)), "wiped in use");
            }
            for (start, size) in &residue {
                prop_assert!(ledger.block_at(start + size - 1, *start).is_none());
            }
            ledger.finish_sharing(&residue, is_wiped);
            for (start, size) in residue {
                if let Some(State::InFlight { release }) =
                    ledger.blocks.get(&start).map(|it| it.state)
                {
                    prop_assert!(!is_wiped);
                    model.in_flight.insert(release, (start, size));
                }
            }
            let again = ledger.share(address).expect("in use");
            let neighbours = |it: &[(u64, u64)]| {
                it.iter().filter(|(at, _)| ledger.blocks.contains_key(at)).count()
            };
            prop_assert!(!is_wiped || neighbours(&again) == 0, "the residue is gone");
            ledger.finish_sharing(&again, is_wiped);
            let known = &mut model.in_use.get_mut(&address).expect("picked").1;
            *known = (*known).max(access);
        }
        Step::Complete { but } => {
            let up_to = ledger.last_release.saturating_sub(but);
            ledger.mark_complete(up_to);
            model.in_flight.retain(|release, _| *release > up_to);
        }
        Step::Limit(bytes) => {
            ledger.account.limit = Some(bytes);
            let freed = ledger.remove_beyond_limit();
            model.free(freed)?;
        }
        Step::TakeSurplus(needed) => {
            let in_flight = model.in_flight.len();
            let freed = ledger.take_surplus(needed);
            model.free(freed)?;
            prop_assert_eq!(model.in_flight.len(), in_flight, "what is in flight stays");
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
            take(&mut ledger, &mut model, Step::Release { index: 0, is_exposed: true })?;
        }
        take(&mut ledger, &mut model, Step::Complete { but: 0 })?;
        take(&mut ledger, &mut model, Step::Clear)?;
        check(&ledger, &model)?;
        let remain = model.segments.iter().map(|(at, capacity)| (*at, *capacity));
        for segment in remain.collect::<Vec<_>>() {
            prop_assert!(model.exported.iter().any(|it| overlap(segment, (*it.0, *it.1))));
        }
    }
}

fn with_limit(limit: u64) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.account.limit = Some(limit);
    ledger
}

/// Allocates from a driver that puts each segment at the next multiple of `APART`.
fn add(ledger: &mut Ledger, size: u64) -> u64 {
    let request = ledger.request(size, Placement::Packed);
    if let Some((address, _)) = ledger.reuse(&request) {
        return address;
    }
    let address = (ledger.account.stats.driver_allocations + 1) * APART;
    ledger.add(address, ledger.segment_size(&request), &request);
    address
}

fn alone(ledger: &Ledger) -> Request {
    ledger.request(100, Placement::Alone)
}

/// As many blocks as may be alone in their segments, because that wastes little.
fn add_alone(ledger: &mut Ledger) -> Vec<u64> {
    let mut blocks = Vec::new();
    while alone(ledger).is_alone {
        let address = APART * (blocks.len() as u64 + 1);
        assert_eq!(ledger.segment_size(&alone(ledger)), SEGMENT);
        ledger.add(address, SEGMENT, &alone(ledger));
        blocks.push(address);
    }
    assert_eq!(blocks.len() as u64, MAX_SLACK / (SEGMENT - 100));
    blocks
}

#[test]
fn a_request_falls_back_to_its_own_capacity() {
    let ledger = with_limit(LIMIT);
    let request = ledger.request(100, Placement::Alone);
    assert!(request.is_alone && request.capacity == SEGMENT);
    let packed = request.packed();
    assert!(!packed.is_alone && packed.capacity == 512);
}

#[test]
fn once_much_is_wasted_no_segment_is_made_for_one_block_until_most_of_that_is_back() {
    let mut ledger = with_limit(LIMIT);
    let blocks = add_alone(&mut ledger);
    assert!(!ledger.request(5 * MIB + 1, Placement::Alone).is_alone, "its share is wasted");
    let first = blocks[0];
    ledger.release(first, false);
    assert_eq!(ledger.reuse(&alone(&ledger)), Some((first, first)), "a vacant segment serves");
    assert!(ledger.blocks.get(&first).is_some_and(|block| block.is_alone));
    ledger.release(first, false);
    let packed = |ledger: &Ledger| ledger.request(100, Placement::Packed);
    assert!(ledger.reuse(&packed(&ledger)).is_some());
    assert_eq!(
        ledger.reuse(&alone(&ledger)),
        Some((first + 512, first)),
        "none is vacant, and another has room"
    );
    let last = blocks.len() * 3 / 4 - 1;
    for address in &blocks[1..last] {
        assert!(!alone(&ledger).is_alone);
        ledger.release(*address, false);
    }
    assert!(!alone(&ledger).is_alone, "more than a quarter is wasted");
    ledger.release(blocks[last], false);
    assert!(alone(&ledger).is_alone);
}

#[test]
fn a_vacant_segment_is_split_while_memory_is_plentiful() {
    let mut ledger = with_limit(LIMIT);
    let large = add(&mut ledger, 100 * MIB);
    ledger.release(large, false);
    assert_eq!(add(&mut ledger, 40 * MIB), large);
    assert_eq!(add(&mut ledger, 30 * MIB), large + 40 * MIB);
    // Another 30 MiB would fit in the rest, but there is a request of 100 MiB to be expected.
    assert_eq!(
        ledger.reuse(&ledger.request(30 * MIB, Placement::Packed)),
        Some((large + 70 * MIB, large))
    );
    let other = add(&mut ledger, 100 * MIB);
    ledger.release(other, false);
    assert_eq!(
        ledger.reuse(&ledger.request(70 * MIB, Placement::Packed)),
        None,
        "memory is scarce"
    );
    assert_eq!(ledger.reuse(&ledger.request(90 * MIB, Placement::Packed)), Some((other, other)));
}

#[test]
fn segments_are_split_as_long_as_that_leaves_little() {
    let mut ledger = with_limit(LIMIT);
    let blocks: Vec<_> = [1000, 300, 300].map(|size| add(&mut ledger, size * MIB)).into();
    for address in &blocks[1..] {
        ledger.release(*address, false);
    }
    let large = |ledger: &Ledger, size| ledger.request(size * MIB, Placement::Packed);
    let hit = |address| Some((address, address));
    assert_eq!(ledger.reuse(&large(&ledger, 220)), hit(blocks[1]));
    assert_eq!(ledger.reuse(&large(&ledger, 220)), None, "80 MiB are left already");
    assert_eq!(ledger.reuse(&large(&ledger, 270)), hit(blocks[2]));
}

#[test]
fn smaller_segments_stay_as_long_as_they_hold_little() {
    let mut ledger = with_limit(LIMIT);
    let large = add(&mut ledger, 200 * MIB);
    ledger.release(large, false);
    assert_eq!(add(&mut ledger, 20 * MIB), large);
    let medium: Vec<_> = (0..7).map(|_| add(&mut ledger, 10 * MIB)).collect();
    let (last, others) = medium.split_last().expect("seven");
    for address in others {
        ledger.release(*address, false);
    }
    assert!(ledger.account.stats.cached_bytes > 0);
    assert!(!ledger.has_surplus(190 * MIB) && ledger.take_surplus(190 * MIB).is_empty());
    ledger.release(*last, false);
    assert!(ledger.has_surplus(190 * MIB) && !ledger.take_surplus(190 * MIB).is_empty());
}

#[test]
fn an_allocation_returns_few_segments_at_once() {
    let mut ledger = with_limit(LIMIT);
    let blocks: Vec<_> = (0..40).map(|_| add(&mut ledger, 16 * MIB)).collect();
    blocks.iter().for_each(|address| ledger.release(*address, false));
    let returned = [0; 3].map(|_| ledger.take_surplus(800 * MIB).len());
    assert_eq!(returned, [16, 13, 0]);
    ledger.account.limit = Some(0);
    assert_eq!(ledger.remove_beyond_limit().len(), 11, "a limit holds at once");
}

#[test]
fn what_was_needed_at_the_peak_is_kept() {
    let mut ledger = with_limit(LIMIT);
    let blocks: Vec<_> = [100, 80, 60].map(|size| add(&mut ledger, size * MIB)).into();
    for address in &blocks[1..] {
        ledger.release(*address, false);
    }
    assert!(ledger.take_surplus(40 * MIB).is_empty() && !ledger.has_surplus(40 * MIB));
    assert!(ledger.has_surplus(90 * MIB));
    let surplus: Vec<_> = ledger.take_surplus(90 * MIB).iter().map(|it| it.address).collect();
    assert_eq!(surplus, blocks[1..2], "the one that was vacant for longest");
}

#[test]
fn what_was_needed_before_the_cache_was_emptied_does_not_count() {
    let mut ledger = with_limit(1 << 40);
    let large = add(&mut ledger, 1000 * MIB);
    ledger.release(large, false);
    assert_eq!(ledger.clear().len(), 1);
    let small = [100, 100].map(|size| add(&mut ledger, size * MIB));
    ledger.release(small[0], false);
    assert!(ledger.has_surplus(150 * MIB));
}

#[test]
fn segments_with_work_in_flight_are_no_surplus() {
    let mut ledger = with_limit(10 * MIB);
    let address = add(&mut ledger, 64 * MIB);
    ledger.release(address, true);
    assert!(ledger.has_surplus(0) && ledger.has_to_wait());
    assert!(ledger.take_surplus(0).is_empty());
    ledger.mark_complete(ledger.last_release);
    assert_eq!(ledger.take_surplus(0).len(), 1);
    assert!(!ledger.has_surplus(0) && !ledger.has_to_wait());
}

#[test]
fn lent_memory_goes_back_with_the_last_block_of_its_segment() {
    let mut ledger = with_limit(LIMIT);
    let (lent, other) = (add(&mut ledger, 1000), add(&mut ledger, 1000));
    assert!(ledger.share(lent).is_some());
    ledger.release(lent, false);
    assert!(ledger.is_idle(lent) && add(&mut ledger, 1000) != lent);
    assert!(ledger.finished.is_empty());
    ledger.release(other, true);
    let freed = ledger.take_finished();
    assert_eq!((freed[0].address, freed[0].capacity), (lent, SEGMENT));
    assert!(!ledger.is_idle(lent));
}

#[test]
fn residue_is_known_until_it_is_wiped() {
    let mut ledger = with_limit(LIMIT);
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

#[test]
fn a_block_is_found_from_inside_and_from_its_slack() {
    let mut ledger = with_limit(LIMIT);
    let address = add(&mut ledger, 100);
    for inside in [0, 99, 511] {
        assert_eq!(ledger.block_at(address + inside, address), Some((address, 100)));
    }
    assert_eq!(ledger.block_at(address + 512, address), None);
    assert_eq!(ledger.block_at(address + 100, address + 1), None);
}

/// Random sizes, as `8 GiB alive` of the workloads: what is reserved stays close to what was needed.
#[test]
fn random_sizes_leave_little_unused() {
    let mut ledger = with_limit(1 << 40);
    let mut draw = numbers(5);
    let (mut alive, mut live): (Vec<(u64, u64)>, u64) = (Vec::new(), 0);
    for _ in 0..20_000 {
        let size = (2f64.powf(10.0 + 18.0 * draw())) as u64;
        if !alive.is_empty() && (live + size > 8 << 30 || draw() < 0.45) {
            let at = (draw() * alive.len() as f64) as usize;
            let (address, gone) = alive.swap_remove(at);
            live -= gone;
            ledger.release(address, false);
        } else {
            let request = ledger.request(size, Placement::Alone);
            let address = match ledger.reuse(&request) {
                Some((address, _)) => address,
                _ => {
                    let capacity = ledger.segment_size(&request);
                    drop(ledger.take_surplus(capacity));
                    let address = (ledger.account.stats.driver_allocations + 1) * APART;
                    ledger.add(address, capacity, &request);
                    address
                }
            };
            alive.push((address, size));
            live += size;
        }
    }
    let stats = ledger.account.stats;
    let share = stats.peak_reserved_bytes as f64 / stats.peak_allocated_bytes as f64;
    assert!(share < 1.25, "{share:.3}: {stats:?}");
    assert!(stats.driver_allocations + stats.driver_frees < 600, "{stats:?}");
}

/// A generator of numbers from 0 to 1 with a fixed beginning.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
