use super::*;
use proptest::prelude::*;

const LIMIT: u64 = 1 << 30;
/// How far apart the model's driver puts segments.
const APART: u64 = 1 << 40;
const HERE: Home = Home { context: (0x1000, 7), source: Source::Driver };
const THERE: Home = Home { context: (0x2000, 8), source: Source::Pages };

#[derive(Clone, Debug)]
enum Step {
    Allocate {
        home: Home,
        size: u64,
        may_cache: bool,
    },
    /// The block in use of that index, modulo how many there are.
    Release {
        index: usize,
        is_exposed: bool,
    },
    /// The work of all releases but the last `but` is found complete.
    Complete {
        but: u64,
    },
    Limit(u64),
    Clear,
    /// A context is gone, and this was found.
    Abandon(Home),
    /// A context is gone, and the driver gives the memory of its block of that index to the other.
    Overlap {
        index: usize,
        before: u64,
    },
    RefuseExposed,
}

fn step() -> impl Strategy<Value = Step> {
    let home = || prop_oneof![Just(HERE), Just(THERE)];
    let size = prop_oneof![1u64..5000, 1u64..=1 << 20, 1u64..400 << 20];
    let allocate = (home(), size, proptest::bool::weighted(0.9));
    prop_oneof![
        80 => allocate.prop_map(|(home, size, may_cache)| Step::Allocate { home, size, may_cache }),
        70 => any::<(usize, bool)>().prop_map(|(index, is_exposed)| Step::Release { index, is_exposed }),
        30 => (0u64..4).prop_map(|but| Step::Complete { but }),
        10 => (0u64..LIMIT).prop_map(Step::Limit),
        10 => Just(Step::Clear),
        3 => home().prop_map(Step::Abandon),
        3 => any::<usize>().prop_map(|index| Step::Overlap { index, before: index as u64 % 3 * 2048 }),
        1 => Just(Step::RefuseExposed),
    ]
}

#[derive(Clone, Debug)]
struct ModelBlock {
    home: Home,
    address: u64,
    size: u64,
    capacity: u64,
    is_cacheable: bool,
    /// The number of its release and whether it has exposed; none while it is in use.
    idle: Option<(u64, bool)>,
}

/// The same by brute force: all blocks in one list.
#[derive(Default)]
struct Model {
    blocks: Vec<ModelBlock>,
    limit: u64,
    complete: u64,
    last_release: u64,
    lacks_evidence: bool,
    segments: u64,
}

impl Model {
    fn in_use(&self) -> Vec<ModelBlock> {
        self.blocks.iter().filter(|block| block.idle.is_none()).cloned().collect()
    }

    fn sum(&self, of: impl Fn(&ModelBlock) -> u64) -> u64 {
        self.blocks.iter().map(of).sum()
    }

    fn cached(&self) -> u64 {
        self.sum(|block| if block.idle.is_some() { block.capacity } else { 0 })
    }

    fn shrink(&mut self, bytes: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        while self.cached() > bytes {
            let idle = self.blocks.iter().filter(|block| block.idle.is_some());
            let oldest = idle.min_by_key(|block| block.idle).expect("some are").address;
            self.blocks.retain(|block| block.address != oldest);
            gone.push(oldest);
        }
        gone
    }

    fn release(&mut self, address: u64, is_exposed: bool) -> Vec<u64> {
        let at = self.blocks.iter().position(|block| block.address == address).expect("known");
        let ModelBlock { capacity, is_cacheable, .. } = self.blocks[at];
        if !is_cacheable || capacity > self.limit || is_exposed && self.lacks_evidence {
            self.blocks.remove(at);
            return vec![address];
        }
        let gone = self.shrink(self.limit - capacity);
        self.last_release += 1;
        let block = self.blocks.iter_mut().find(|block| block.address == address);
        block.expect("known").idle = Some((self.last_release, is_exposed));
        gone
    }

    fn reuse(&mut self, request: &Request) -> IdleLookup {
        let complete = self.complete;
        let fits = |block: &&mut ModelBlock| {
            block.idle.is_some()
                && block.home == request.home
                && block.capacity >= request.capacity
                && block.capacity - request.capacity <= request.capacity / 8
        };
        let fitting: Vec<_> = self.blocks.iter_mut().filter(fits).collect();
        let has_some = !fitting.is_empty();
        let is_ready = |(released, is_exposed): (u64, bool)| !is_exposed || released <= complete;
        let ready = fitting.into_iter().filter(|block| block.idle.is_some_and(is_ready));
        let best = ready.min_by_key(|block| {
            (
                block.capacity,
                block.idle.map(|(released, is_exposed)| (is_exposed, u64::MAX - released)),
            )
        });
        match best {
            Some(block) => {
                (block.size, block.idle) = (request.size, None);
                IdleLookup::Hit { address: block.address, capacity: block.capacity }
            }
            None if has_some => IdleLookup::InFlight,
            None => IdleLookup::Miss,
        }
    }

    fn abandon(&mut self, home: Home) -> Vec<u64> {
        if home.source == Source::Driver {
            self.blocks.retain(|block| block.home != home);
            return Vec::new();
        }
        let of_it = self.blocks.iter_mut().filter(|block| block.home == home);
        of_it.for_each(|block| block.is_cacheable = false);
        let is_returned = |block: &ModelBlock| block.home == home && block.idle.is_some();
        let idle = self.blocks.iter().filter(|block| is_returned(block));
        let mut freed: Vec<u64> = idle.map(|block| block.address).collect();
        self.blocks.retain(|block| !is_returned(block));
        freed.sort_unstable();
        freed
    }

    fn add(&mut self, address: u64, request: &Request) {
        let Request { home, size, capacity, is_cacheable } = *request;
        self.blocks.push(ModelBlock { home, address, size, capacity, is_cacheable, idle: None });
    }
}

fn addresses(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|segment| segment.address).collect()
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let (mut ledger, mut model) = (Ledger::default(), Model { limit: LIMIT, ..Model::default() });
    prop_assert!(ledger.set_limit(LIMIT).is_empty());
    for step in steps {
        match step {
            Step::Allocate { home, size, may_cache } => {
                let request = ledger.request(home, size, may_cache);
                let found = ledger.reuse(&request);
                match request.is_cacheable {
                    true => prop_assert_eq!(found, model.reuse(&request)),
                    false => prop_assert_eq!(found, IdleLookup::Miss),
                }
                if !matches!(found, IdleLookup::Hit { .. }) {
                    model.segments += 1;
                    let address = model.segments * APART;
                    ledger.add(address, request);
                    model.add(address, &request);
                }
            }
            Step::Release { index, is_exposed } => {
                let in_use = model.in_use();
                let Some(block) = in_use.get(index.checked_rem(in_use.len()).unwrap_or(0)) else {
                    continue;
                };
                let freed = ledger.release(block.home, block.address, is_exposed);
                prop_assert_eq!(addresses(&freed), model.release(block.address, is_exposed));
                let again = ledger.release(block.home, block.address, is_exposed);
                prop_assert!(again.is_empty(), "released once");
            }
            Step::Complete { but } => {
                let up_to = ledger.last_release().saturating_sub(but);
                prop_assert_eq!(ledger.last_release(), model.last_release);
                ledger.mark_complete(up_to);
                model.complete = model.complete.max(up_to);
            }
            Step::Limit(bytes) => {
                model.limit = bytes;
                prop_assert_eq!(addresses(&ledger.set_limit(bytes)), model.shrink(bytes));
            }
            Step::Clear => prop_assert_eq!(addresses(&ledger.clear()), model.shrink(0)),
            Step::Abandon(home) => {
                let mut freed = addresses(&ledger.abandon(home));
                freed.sort_unstable();
                prop_assert_eq!(freed, model.abandon(home));
            }
            Step::Overlap { index, before } => {
                if let Some(at) = index.checked_rem(model.blocks.len()) {
                    let lost = model.blocks.swap_remove(at);
                    let request =
                        ledger.request(if lost.home == HERE { THERE } else { HERE }, 8192, false);
                    ledger.add(lost.address - before, request);
                    model.add(lost.address - before, &request);
                    let freed = ledger.release(lost.home, lost.address, true);
                    prop_assert!(freed.is_empty(), "its memory is another block's");
                }
            }
            Step::RefuseExposed => {
                model.lacks_evidence = true;
                let mut exposed: Vec<_> = model.blocks.clone();
                exposed.retain(|block| block.idle.is_some_and(|(_, is_exposed)| is_exposed));
                exposed.sort_by_key(|block| block.idle);
                let exposed: Vec<_> = exposed.iter().map(|block| block.address).collect();
                model.blocks.retain(|block| !exposed.contains(&block.address));
                prop_assert_eq!(addresses(&ledger.refuse_exposed()), exposed);
            }
        }
        let stats = ledger.stats();
        let in_use = model.in_use();
        prop_assert_eq!(stats.allocated_bytes, in_use.iter().map(|block| block.size).sum::<u64>());
        prop_assert_eq!(stats.reserved_bytes, model.sum(|block| block.capacity));
        prop_assert_eq!(stats.cached_bytes, model.cached());
        prop_assert_eq!(stats.cached_blocks as usize, model.blocks.len() - in_use.len());
        prop_assert!(stats.cached_bytes <= model.limit);
        for block in &model.blocks {
            let last = block.address + block.capacity - 1;
            let found = (block.home, block.address, block.size);
            prop_assert_eq!(ledger.block_at(last), block.idle.is_none().then_some(found));
            prop_assert_eq!(ledger.idle_at(last), block.idle.is_some().then_some(block.home));
            prop_assert_eq!(ledger.idle_at(last + 1), None);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn it_agrees_with_brute_force(steps in prop::collection::vec(step(), 1..150)) {
        run(steps)?;
    }
}

#[test]
fn what_may_not_be_cached_is_not_rounded() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.request(HERE, 5000, true).capacity, 5000, "no limit is set yet");
    assert!(ledger.set_limit(1 << 20).is_empty());
    assert_eq!(ledger.request(HERE, 5000, true).capacity, 8192);
    assert_eq!(ledger.request(HERE, 5000, false).capacity, 5000);
    assert_eq!(ledger.request(HERE, (1 << 20) + 1, true).capacity, (1 << 20) + 1);
}

#[test]
fn a_segment_that_the_driver_keeps_is_reserved_still() {
    let mut ledger = Ledger::default();
    assert!(ledger.set_limit(0).is_empty());
    let request = ledger.request(HERE, 5000, true);
    ledger.add(0x7000, request);
    let freed = ledger.release(HERE, 0x7000, false);
    assert_eq!((ledger.stats().reserved_bytes, ledger.stats().driver_frees), (0, 1));
    ledger.restore_segment(&freed[0]);
    assert_eq!((ledger.stats().reserved_bytes, ledger.stats().driver_frees), (5000, 0));
}
