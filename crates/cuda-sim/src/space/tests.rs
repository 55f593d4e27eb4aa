//! The allocator against a naive model: a list of what is live.

use proptest::prelude::*;

use super::*;

const WINDOW: Range<u64> = BLOCK..BLOCK + 64 * BLOCK;

#[derive(Clone, Debug)]
enum Step {
    Take(u64),
    /// Gives back the live allocation at this index, modulo their number.
    Give(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size =
        prop_oneof![1..=4096_u64, 1..=SMALL, SMALL + 1..=3 * BLOCK, Just(SMALL), Just(BLOCK)];
    let step = prop_oneof![size.prop_map(Step::Take), any::<usize>().prop_map(Step::Give)];
    prop::collection::vec(step, 1..200)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

proptest! {
    #[test]
    fn what_is_handed_out_is_disjoint_aligned_and_inside(steps in steps()) {
        let mut space = Space::new(WINDOW);
        let mut live: Vec<Range<u64>> = Vec::new();
        for step in steps {
            match step {
                Step::Take(size) => if let Some(at) = space.take(size) {
                    let range = at..at + size;
                    prop_assert_eq!(at % if size > SMALL { BLOCK } else { ALIGNMENT }, 0);
                    prop_assert!(WINDOW.start <= range.start && range.end <= WINDOW.end);
                    prop_assert!(!live.iter().any(|other| overlap(other, &range)));
                    if size > SMALL {
                        // A large allocation shares its blocks with nobody.
                        let blocks = at..range.end.next_multiple_of(BLOCK);
                        prop_assert!(!live.iter().any(|other| overlap(other, &blocks)));
                    }
                    live.push(range);
                },
                Step::Give(index) => if !live.is_empty() {
                    let range = live.swap_remove(index % live.len());
                    space.give(range.start, range.end - range.start);
                },
            }
            for vacated in space.vacated() {
                prop_assert!(!live.iter().any(|range| overlap(range, &vacated)));
            }
        }
        // Nothing is lost: after giving everything back, all but the open block is free again.
        for range in live {
            space.give(range.start, range.end - range.start);
        }
        prop_assert!(space.take(31 * BLOCK).is_some());
    }
}

#[test]
fn a_freed_address_comes_back_last() {
    let mut space = Space::new(WINDOW);
    let mut seen = Vec::new();
    for _ in 0..64 {
        let at = space.take(BLOCK).expect("room");
        space.give(at, BLOCK);
        assert!(!seen.contains(&at));
        seen.push(at);
    }
    assert_eq!(space.take(BLOCK), Some(seen[0]));
}

#[test]
fn small_allocations_go_round_for_ever() {
    let mut space = Space::new(WINDOW);
    for _ in 0..100 * BLOCK / ALIGNMENT {
        let at = space.take(1).expect("room");
        space.give(at, 1);
    }
}

#[test]
fn a_full_window_answers_none_and_recovers() {
    let mut space = Space::new(WINDOW);
    let all = space.take(64 * BLOCK).expect("the whole window");
    assert_eq!(space.take(1), None);
    assert_eq!(space.take(u64::MAX), None);
    space.give(all, 64 * BLOCK);
    assert!(space.take(1).is_some());
}
