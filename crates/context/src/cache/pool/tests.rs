use super::super::class;
use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Release {
        size: u64,
        is_alone: bool,
    },
    Take {
        size: u64,
        is_alone: bool,
    },
    /// All releases but the last so many are found to be over.
    Over {
        but: u64,
    },
    Limit(u64),
    Clear,
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..5000, 1u64..=class::PACKED_AT_MOST, 1u64..200 << 20]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (size(), any::<bool>()).prop_map(|(size, is_alone)| Step::Release { size, is_alone }),
        6 => (size(), any::<bool>()).prop_map(|(size, is_alone)| Step::Take { size, is_alone }),
        3 => (0u64..4).prop_map(|but| Step::Over { but }),
        1 => (0u64..1 << 30).prop_map(Step::Limit),
        1 => Just(Step::Clear),
    ]
}

fn capacity(size: u64, is_alone: bool) -> (u64, bool) {
    if is_alone || size > class::PACKED_AT_MOST {
        (class::alone(size), true)
    } else {
        (class::packed(size), false)
    }
}

/// The same by brute force: all blocks in one list, in the order of their release.
#[derive(Default)]
struct Model {
    kept: Vec<(u64, u64, u64, bool)>, // number, address, capacity, is_alone
    limit: u64,
    over: u64,
    last: u64,
}

impl Model {
    fn bytes(&self) -> u64 {
        self.kept.iter().map(|(_, _, capacity, _)| capacity).sum()
    }

    fn shrink(&mut self, bytes: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        while self.bytes() > bytes {
            gone.push(self.kept.remove(0).1);
        }
        gone
    }

    fn offer(&mut self, address: u64, capacity: u64, is_alone: bool) -> Vec<u64> {
        self.last += 1;
        if capacity > self.limit {
            return vec![address];
        }
        let gone = self.shrink(self.limit - capacity);
        self.kept.push((self.last, address, capacity, is_alone));
        gone
    }

    /// The address of a block, or whether there is one whose work may go on.
    fn take(&mut self, capacity: u64, is_alone: bool) -> Result<u64, bool> {
        let fits = |it: &&(u64, u64, u64, bool)| {
            it.3 == is_alone && it.2 >= capacity && it.2 - capacity <= capacity / 8
        };
        let ready = self.kept.iter().filter(fits).filter(|it| it.0 <= self.over);
        let best = ready.min_by_key(|it| (it.2, u64::MAX - it.0)).copied();
        let Some(best) = best else { return Err(self.kept.iter().any(|it| fits(&it))) };
        self.kept.retain(|it| it.0 != best.0);
        Ok(best.1)
    }
}

fn addresses(idles: &[Idle]) -> Vec<u64> {
    idles.iter().map(|idle| idle.address).collect()
}

proptest! {
    #[test]
    fn it_does_what_a_list_does(steps in prop::collection::vec(step(), 1..200)) {
        let (mut pool, mut model) = (Pool::default(), Model::default());
        pool.set_limit(1 << 30);
        model.limit = 1 << 30;
        let mut next = 0;
        for step in steps {
            match step {
                Step::Release { size, is_alone } => {
                    next += 1 << 40;
                    let (capacity, is_alone) = capacity(size, is_alone);
                    let evicted = pool.offer(next, capacity, is_alone);
                    prop_assert_eq!(addresses(&evicted), model.offer(next, capacity, is_alone));
                }
                Step::Take { size, is_alone } => {
                    let (capacity, is_alone) = capacity(size, is_alone);
                    let found = match pool.take(capacity, is_alone) {
                        Found::Block(idle) => {
                            prop_assert!(idle.capacity >= size);
                            Ok(idle.address)
                        }
                        Found::Unsure => Err(true),
                        Found::Nothing => Err(false),
                    };
                    prop_assert_eq!(found, model.take(capacity, is_alone));
                }
                Step::Over { but } => {
                    let up_to = pool.released().saturating_sub(but);
                    pool.found_over(up_to);
                    model.over = model.over.max(up_to);
                }
                Step::Limit(bytes) => {
                    model.limit = bytes;
                    prop_assert_eq!(addresses(&pool.set_limit(bytes)), model.shrink(bytes));
                }
                Step::Clear => prop_assert_eq!(addresses(&pool.clear()), model.shrink(0)),
            }
            prop_assert_eq!(pool.released(), model.last);
            prop_assert_eq!(pool.kept(), (model.bytes(), model.kept.len() as u64));
            prop_assert!(pool.kept().0 <= pool.limit());
        }
    }
}

#[test]
fn capacities_without_blocks_do_not_pile_up() {
    let mut pool = Pool::default();
    pool.set_limit(u64::MAX);
    for count in 1..10_000 {
        pool.offer(count, count * class::BLOCK, true);
        pool.found_over(pool.released());
        assert!(matches!(pool.take(count * class::BLOCK, true), Found::Block(_)));
    }
    assert!(pool.alone.len() <= MOST_CAPACITIES && pool.kept() == (0, 0));
}
