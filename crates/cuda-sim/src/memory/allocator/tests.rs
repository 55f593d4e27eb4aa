//! The allocator against a naive model: a list of what is live.

use proptest::prelude::*;

use super::*;

const WINDOW: Range<u64> = BLOCK..BLOCK + 64 * BLOCK;

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64),
    /// Frees the live allocation at this index, modulo their number.
    Free(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size =
        prop_oneof![1..=4096_u64, 1..=SMALL, SMALL + 1..=3 * BLOCK, Just(SMALL), Just(BLOCK)];
    let step = prop_oneof![size.prop_map(Step::Allocate), any::<usize>().prop_map(Step::Free)];
    prop::collection::vec(step, 1..200)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn allocations_are_disjoint_aligned_and_inside(steps in steps()) {
        let mut allocator = Allocator::new(WINDOW);
        let mut live: Vec<Range<u64>> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate(size) => if let Some(at) = allocator.allocate(size) {
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
                Step::Free(index) => if !live.is_empty() {
                    let range = live.swap_remove(index % live.len());
                    allocator.free(range.start, range.end - range.start);
                },
            }
            for freed in allocator.take_freed() {
                prop_assert!(!live.iter().any(|range| overlap(range, &freed)));
            }
        }
        // Nothing is lost: once all are freed, everything but the current block is free again.
        for range in live {
            allocator.free(range.start, range.end - range.start);
        }
        prop_assert!(allocator.allocate(31 * BLOCK).is_some());
    }
}

#[test]
fn a_freed_address_comes_back_last() {
    let mut allocator = Allocator::new(WINDOW);
    let mut seen = Vec::new();
    for _ in 0..64 {
        let at = allocator.allocate(BLOCK).expect("room");
        allocator.free(at, BLOCK);
        assert!(!seen.contains(&at));
        seen.push(at);
    }
    assert_eq!(allocator.allocate(BLOCK), Some(seen[0]));
}

#[test]
fn small_allocations_never_run_out() {
    let mut allocator = Allocator::new(WINDOW);
    for _ in 0..100 * BLOCK / ALIGNMENT {
        let at = allocator.allocate(1).expect("room");
        allocator.free(at, 1);
    }
}

#[test]
fn a_full_window_has_no_room_and_recovers() {
    let mut allocator = Allocator::new(WINDOW);
    let all = allocator.allocate(64 * BLOCK).expect("the whole window");
    assert_eq!(allocator.allocate(1), None);
    assert_eq!(allocator.allocate(u64::MAX), None);
    allocator.free(all, 64 * BLOCK);
    assert!(allocator.allocate(1).is_some());
}
