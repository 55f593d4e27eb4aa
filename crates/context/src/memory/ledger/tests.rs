use super::capacity::{alone, packed};
use super::*;
use proptest::prelude::*;

const TOTAL: u64 = 1 << 33;
const LIMIT: u64 = 1 << 30;
/// How far apart the model's driver puts segments.
const APART: u64 = 1 << 40;

#[derive(Clone, Debug)]
enum Step {
    Allocate {
        size: u64,
        placement: Placement,
    },
    /// The block in use of that index, modulo how many there are.
    Release {
        index: usize,
    },
    Share {
        index: usize,
        access: Access,
    },
    /// The work of all releases but the last `but` is found complete.
    Complete {
        but: u64,
    },
    Limit(u64),
    Clear,
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..5000, 1u64..=MAX_PACKED, 1u64..200 << 20]
}

fn step() -> impl Strategy<Value = Step> {
    let placement = prop_oneof![Just(Placement::Alone), Just(Placement::Packed)];
    let access = prop_oneof![Just(Access::Lent), Just(Access::Exported)];
    prop_oneof![
        8 => (size(), placement).prop_map(|(size, placement)| Step::Allocate { size, placement }),
        7 => any::<usize>().prop_map(|index| Step::Release { index }),
        1 => (any::<usize>(), access).prop_map(|(index, access)| Step::Share { index, access }),
        3 => (0u64..4).prop_map(|but| Step::Complete { but }),
        1 => (0u64..LIMIT).prop_map(Step::Limit),
        1 => Just(Step::Clear),
    ]
}

#[derive(Clone, Debug, PartialEq)]
enum BlockState {
    InUse(Access),
    Idle { released: u64 },
    Exported,
}

#[derive(Clone, Debug)]
struct ModelBlock {
    address: u64,
    size: u64,
    capacity: u64,
    is_alone: bool,
    is_cacheable: bool,
    state: BlockState,
}

/// The same by brute force: all blocks in one list.
struct Model {
    blocks: Vec<ModelBlock>,
    limit: u64,
    complete: u64,
    last_release: u64,
    next: u64,
}

impl Model {
    fn idle(&self) -> Vec<(u64, ModelBlock)> {
        let mut idle: Vec<_> = self
            .blocks
            .iter()
            .filter_map(|block| match block.state {
                BlockState::Idle { released } => Some((released, block.clone())),
                _ => None,
            })
            .collect();
        idle.sort_by_key(|(released, _)| *released);
        idle
    }

    fn shrink(&mut self, bytes: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        while self.idle().iter().map(|(_, block)| block.capacity).sum::<u64>() > bytes {
            let oldest = self.idle()[0].1.address;
            self.blocks.retain(|block| block.address != oldest);
            gone.push(oldest);
        }
        gone
    }

    fn release(&mut self, address: u64) -> Vec<u64> {
        let at = self.blocks.iter().position(|block| block.address == address).expect("known");
        let ModelBlock { capacity, is_cacheable, .. } = self.blocks[at];
        match self.blocks[at].state {
            BlockState::InUse(Access::Exported) => {
                self.blocks[at].state = BlockState::Exported;
                Vec::new()
            }
            BlockState::InUse(Access::Process) if is_cacheable => {
                self.last_release += 1;
                if capacity > self.limit {
                    self.blocks.remove(at);
                    return vec![address];
                }
                let gone = self.shrink(self.limit - capacity);
                let released = self.last_release;
                let block = self.blocks.iter_mut().find(|block| block.address == address);
                block.expect("known").state = BlockState::Idle { released };
                gone
            }
            _ => {
                self.blocks.remove(at);
                vec![address]
            }
        }
    }

    /// The address of a block, or whether there is one that work in flight may touch.
    fn reuse(&mut self, size: u64, capacity: u64, is_alone: bool) -> Result<u64, bool> {
        let idle = self.idle();
        let fits = |it: &&(u64, ModelBlock)| {
            let block = &it.1;
            block.is_alone == is_alone
                && block.capacity >= capacity
                && block.capacity - capacity <= capacity / 8
        };
        let ready = idle.iter().filter(fits).filter(|it| it.0 <= self.complete);
        let best = ready.min_by_key(|it| (it.1.capacity, u64::MAX - it.0));
        let Some((_, best)) = best else { return Err(idle.iter().any(|it| fits(&it))) };
        let address = best.address;
        let block = self.blocks.iter_mut().find(|block| block.address == address);
        let block = block.expect("known");
        (block.size, block.state) = (size, BlockState::InUse(Access::Process));
        Ok(address)
    }

    fn in_use(&self) -> Vec<u64> {
        let in_use = self.blocks.iter().filter(|block| matches!(block.state, BlockState::InUse(_)));
        in_use.map(|block| block.address).collect()
    }
}

fn addresses(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|segment| segment.address).collect()
}

/// The ledger and the model agree on every address and on the totals.
fn check(ledger: &Ledger, model: &Model) -> Result<(), TestCaseError> {
    let sum = |of: fn(&ModelBlock) -> Option<u64>| model.blocks.iter().filter_map(of).sum::<u64>();
    let stats = ledger.stats();
    prop_assert_eq!(stats.reserved_bytes, sum(|block| Some(block.capacity)));
    let allocated =
        sum(|block| (!matches!(block.state, BlockState::Idle { .. })).then_some(block.size));
    prop_assert_eq!(stats.allocated_bytes, allocated);
    let idle =
        sum(|block| matches!(block.state, BlockState::Idle { .. }).then_some(block.capacity));
    prop_assert_eq!((stats.cached_bytes, stats.cached_blocks), (idle, model.idle().len() as u64));
    prop_assert!(idle <= model.limit && stats.peak_allocated_bytes >= allocated);
    for block in &model.blocks {
        let is_idle = matches!(block.state, BlockState::Idle { .. });
        let last = block.address + block.capacity - 1;
        prop_assert_eq!(ledger.is_idle(last), is_idle);
        let found = ledger.block_at(last, block.address);
        prop_assert_eq!(found, (!is_idle).then_some((block.address, block.size)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn it_does_what_a_list_does(steps in prop::collection::vec(step(), 1..120)) {
        let mut ledger = Ledger::default();
        prop_assert!(ledger.set_limit(LIMIT).is_empty());
        let mut model =
            Model { blocks: Vec::new(), limit: LIMIT, complete: 0, last_release: 0, next: 0 };
        for step in steps {
            let in_use = model.in_use();
            let pick = |index: usize| (!in_use.is_empty()).then(|| in_use[index % in_use.len()]);
            match step {
                Step::Allocate { size, placement } => {
                    let request = ledger.request(size, placement, TOTAL);
                    let Request { capacity, is_alone, is_cacheable, .. } = request;
                    prop_assert!(capacity >= size && is_cacheable == (model.limit > 0));
                    let expected = match is_cacheable {
                        true => model.reuse(size, capacity, is_alone),
                        false => Err(false),
                    };
                    let found = match ledger.reuse(&request) {
                        IdleLookup::Hit { address } => Ok(address),
                        IdleLookup::InFlight => Err(true),
                        IdleLookup::Miss => Err(false),
                    };
                    prop_assert_eq!(found, expected);
                    if found.is_err() {
                        model.next += APART;
                        let (address, state) = (model.next, BlockState::InUse(Access::Process));
                        ledger.add(address, request);
                        let known = ModelBlock { address, size, capacity, is_alone, is_cacheable, state };
                        model.blocks.push(known);
                    }
                }
                Step::Release { index } => {
                    let Some(address) = pick(index) else { continue };
                    let freed = addresses(&ledger.release(address));
                    prop_assert_eq!(freed, model.release(address));
                }
                Step::Share { index, access } => {
                    let Some(address) = pick(index) else { continue };
                    prop_assert!(ledger.share(address, access).is_some());
                    let block = model.blocks.iter_mut().find(|block| block.address == address);
                    let block = block.expect("known");
                    let BlockState::InUse(known) = block.state else { unreachable!("picked in use") };
                    block.state = BlockState::InUse(known.max(access));
                }
                Step::Complete { but } => {
                    let up_to = ledger.last_release().saturating_sub(but);
                    ledger.mark_complete(up_to);
                    model.complete = model.complete.max(up_to);
                }
                Step::Limit(bytes) => {
                    model.limit = bytes;
                    prop_assert_eq!(addresses(&ledger.set_limit(bytes)), model.shrink(bytes));
                }
                Step::Clear => prop_assert_eq!(addresses(&ledger.clear()), model.shrink(0)),
            }
            prop_assert_eq!(ledger.last_release(), model.last_release);
            check(&ledger, &model)?;
        }
    }
}

fn with_limit(limit: u64) -> Ledger {
    let mut ledger = Ledger::default();
    assert!(ledger.set_limit(limit).is_empty());
    ledger
}

fn add(ledger: &mut Ledger, address: u64, size: u64) -> Request {
    let request = ledger.request(size, Placement::Packed, TOTAL);
    ledger.add(address, request);
    request
}

#[test]
fn a_block_is_found_from_inside_and_from_its_slack() {
    let mut ledger = with_limit(0);
    let request = ledger.request(100, Placement::Alone, TOTAL);
    assert_eq!(request.capacity, BLOCK);
    ledger.add(0x7000_0000, request);
    for inside in [0x7000_0000, 0x7000_0063, 0x7000_1000] {
        assert_eq!(ledger.block_at(inside, 0x7000_0000), Some((0x7000_0000, 100)));
    }
    assert_eq!(ledger.block_at(0x7000_1000, 0x7000_0800), None);
    assert_eq!(addresses(&ledger.release(0x7000_0000)), [0x7000_0000]);
    assert_eq!(ledger.block_at(0x7000_0000, 0x7000_0000), None);
    assert!(ledger.release(0x7000_0000).is_empty());
}

#[test]
fn slack_is_that_of_blocks_in_use_and_has_a_limit() {
    let mut ledger = with_limit(LIMIT);
    let total = 3 * SLACK_DIVISOR * BLOCK;
    let requests: Vec<_> = (0..4).map(|_| ledger.request(16, Placement::Alone, total)).collect();
    let are_alone: Vec<_> = requests.iter().map(|request| request.is_alone).collect();
    assert_eq!(are_alone, [true, true, true, false]);
    ledger.add(APART, requests[0]);
    assert!(ledger.release(APART).is_empty());
    assert!(ledger.request(16, Placement::Alone, total).is_alone);
    let fallback = ledger.pack(&requests[1]).expect("it was alone");
    assert_eq!((fallback.is_alone, fallback.capacity), (false, packed(16)));
    assert!(ledger.pack(&fallback).is_none());
    ledger.cancel(&requests[2]);
    assert!(ledger.request(16, Placement::Alone, total).is_alone);
}

#[test]
fn residue_is_known_until_it_is_wiped() {
    let mut ledger = with_limit(LIMIT);
    add(&mut ledger, 0x9000_0000, 3 * BLOCK);
    assert_eq!(ledger.share(0x9000_0000, Access::Lent), Some((0x9000_0000 + 3 * BLOCK, 0)));
    add(&mut ledger, 0xa000_0000, 3 * BLOCK);
    assert!(ledger.release(0xa000_0000).is_empty());
    assert_eq!(ledger.share(0xa000_0000, Access::Lent), None, "idle");
    ledger.mark_complete(ledger.last_release());
    let smaller = ledger.request(3 * BLOCK - 100, Placement::Packed, TOTAL);
    assert_eq!(smaller.capacity, alone(3 * BLOCK - 100));
    assert_eq!(ledger.reuse(&smaller), IdleLookup::Hit { address: 0xa000_0000 });
    let residue = Some((0xa000_0000 + 3 * BLOCK - 100, 100));
    assert_eq!(ledger.share(0xa000_0010, Access::Lent), residue);
    assert_eq!(ledger.share(0xa000_0000 + 3 * BLOCK, Access::Lent), None);
    assert_eq!(addresses(&ledger.release(0xa000_0000)), [0xa000_0000], "lent: not cached");
}

#[test]
fn a_reset_leaves_nothing_to_find_or_free() {
    let mut ledger = with_limit(LIMIT);
    add(&mut ledger, 0xb000_0000, 100);
    add(&mut ledger, 0xb000_1000, 100);
    assert!(ledger.release(0xb000_0000).is_empty());
    ledger.abandon();
    assert!(ledger.release(0xb000_1000).is_empty() && ledger.clear().is_empty());
    assert!(!ledger.is_idle(0xb000_0000) && ledger.block_at(0xb000_1000, 0).is_none());
    assert_eq!((ledger.stats().cached_blocks, ledger.limit()), (0, Some(0)));
}

#[test]
fn a_segment_that_the_driver_keeps_counts_as_reserved() {
    let mut ledger = with_limit(0);
    let request = add(&mut ledger, 0xc000_0000, 3 * BLOCK);
    let freed = ledger.release(0xc000_0000);
    assert_eq!((ledger.stats().reserved_bytes, ledger.stats().driver_frees), (0, 1));
    ledger.restore_segment(&freed[0]);
    let stats = ledger.stats();
    assert_eq!((stats.reserved_bytes, stats.driver_frees), (request.capacity, 0));
}

#[test]
fn the_peak_counts_what_the_driver_did_not_take_back() {
    let mut ledger = with_limit(0);
    add(&mut ledger, 0xd000_0000, 3 * BLOCK);
    let freed = ledger.release(0xd000_0000);
    add(&mut ledger, 0xe000_0000, 3 * BLOCK); // another thread, meanwhile
    ledger.restore_segment(&freed[0]);
    let stats = ledger.stats();
    assert_eq!((stats.reserved_bytes, stats.peak_reserved_bytes), (6 * BLOCK, 6 * BLOCK));
}
