use super::*;
use proptest::prelude::*;

/// Arenas that touch each other, as mappings may.
const BASE: u64 = 1 << 40;

#[derive(Clone, Debug)]
enum Step {
    Take { size: u64, alignment: u64 },
    Resize { index: usize, size: u64 },
    Release { index: usize },
    Complete { but: u64 },
    RemoveVacant,
}

fn step() -> impl Strategy<Value = Step> {
    let size = || prop_oneof![1u64..300, 1u64..5000, 1u64..1 << 20, 1u64..4 << 20];
    let alignment = prop_oneof![9 => Just(64u64), 1 => (0u32..14).prop_map(|power| 1 << power)];
    prop_oneof![
        10 => (size(), alignment).prop_map(|(size, alignment)| Step::Take { size, alignment }),
        4 => (any::<usize>(), size()).prop_map(|(index, size)| Step::Resize { index, size }),
        8 => any::<usize>().prop_map(|index| Step::Release { index }),
        4 => (0u64..4).prop_map(|but| Step::Complete { but }),
        1 => Just(Step::RemoveVacant),
    ]
}

/// What the books should say: allocations, pending memory and arenas as plain lists.
#[derive(Default)]
struct Model {
    used: Vec<(u64, u64)>,
    pending: Vec<(u64, u64)>,
    arenas: Vec<(u64, u64)>,
    next: u64,
}

impl Model {
    fn remove_arena(&mut self, start: u64) {
        let at = self.arenas.iter().position(|arena| arena.0 == start).expect("an arena");
        let (start, end) = self.arenas.swap_remove(at);
        self.pending.retain(|pending| pending.0 < start || pending.0 >= end);
        let is_used = self.used.iter().any(|used| used.0 >= start && used.0 < end);
        assert!(!is_used, "an arena in use has gone");
    }

    /// Whether everything lies in an arena, and nothing twice.
    fn check(&self, arenas: &Arenas) {
        let mut all: Vec<(u64, u64)> =
            self.used.iter().map(|(at, size)| (*at, rounded(*size))).collect();
        all.extend(&self.pending);
        all.extend(arenas.free.all());
        all.sort_unstable();
        let mut ends = all.iter().map(|(start, size)| start + size);
        assert!(
            all.iter().skip(1).all(|(start, _)| ends.next().expect("as many") <= *start),
            "{all:?}"
        );
        let total: u64 = all.iter().map(|(_, size)| size).sum();
        let room: u64 = self.arenas.iter().map(|(start, end)| end - start).sum();
        assert_eq!((total, arenas.bytes), (room, room), "all of each arena is accounted for");
        for (start, size) in all {
            let holds = |(first, end): &(u64, u64)| *first <= start && start + size <= *end;
            assert!(self.arenas.iter().any(holds), "nothing reaches over the end of an arena");
        }
        assert_eq!(arenas.pending_bytes, self.pending.iter().map(|(_, size)| size).sum::<u64>());
    }
}

fn run(steps: Vec<Step>) {
    let (mut arenas, mut model) = (Arenas::default(), Model { next: BASE, ..Model::default() });
    for step in steps {
        match step {
            Step::Take { size, alignment } => {
                let start = arenas.take(size, alignment).unwrap_or_else(|| {
                    let (wanted, needed) = arenas.next_size(size, alignment);
                    assert!(wanted >= needed && wanted.is_multiple_of(SMALLEST));
                    let start = model.next;
                    arenas.add(start, needed);
                    model.arenas.push((start, start + needed));
                    model.next += needed;
                    arenas.take(size, alignment).expect("a new arena has room")
                });
                assert!(start.is_multiple_of(alignment.max(GRAIN)));
                model.used.push((start, size));
            }
            Step::Resize { index, size } if !model.used.is_empty() => {
                let at = index % model.used.len();
                let (start, old) = model.used[at];
                let is_resized = arenas.resize(start, old, size);
                assert!(is_resized || size > old, "it can always shrink");
                if is_resized {
                    model.used[at].1 = size;
                    let (old, new) = (rounded(old), rounded(size));
                    if new < old {
                        model.pending.push((start + new, old - new));
                    }
                }
            }
            Step::Release { index } if !model.used.is_empty() => {
                let (start, size) = model.used.swap_remove(index % model.used.len());
                model.pending.push((start, rounded(size)));
                if let Some(gone) = arenas.release(start, size) {
                    model.remove_arena(gone);
                }
            }
            Step::Complete { but } => {
                let up_to = arenas.last_release().saturating_sub(but);
                arenas.mark_complete(up_to);
                let left = arenas.by_start.values().flat_map(|arena| &arena.pending);
                model.pending = left.clone().map(|pending| (pending.start, pending.size)).collect();
                assert!(left.into_iter().all(|pending| pending.released > up_to));
            }
            Step::RemoveVacant => {
                arenas.remove_vacant().into_iter().for_each(|start| model.remove_arena(start));
            }
            _ => {}
        }
        model.check(&arenas);
    }
}

proptest! {
    #[test]
    fn memory_belongs_to_one_at_a_time(steps in prop::collection::vec(step(), 1..200)) {
        run(steps);
    }
}

fn with_arena(size: u64) -> Arenas {
    let mut arenas = Arenas::default();
    arenas.add(BASE, size);
    arenas
}

#[test]
fn released_memory_serves_again_once_work_is_complete() {
    let mut arenas = with_arena(SMALLEST);
    let first = arenas.take(SMALLEST, 64).expect("room");
    assert_eq!(arenas.take(1, 64), None);
    assert_eq!(arenas.release(first, SMALLEST), None, "a small arena stays");
    assert!(arenas.is_pending(SMALLEST) && arenas.take(1, 64).is_none());
    arenas.mark_complete(arenas.last_release());
    assert_eq!(arenas.take(SMALLEST, 64), Some(first));
}

#[test]
fn memory_grows_where_it_is() {
    let mut arenas = with_arena(SMALLEST);
    let first = arenas.take(100, 64).expect("room");
    assert!(arenas.resize(first, 100, 128), "within what it takes");
    assert!(arenas.resize(first, 128, 5000), "what lies behind it is free");
    let second = arenas.take(64, 64).expect("room");
    assert_eq!(second, first + 5056);
    assert!(!arenas.resize(first, 5000, 6000), "the second is in the way");
    assert!(arenas.resize(first, 5000, 10));
    assert!(!arenas.resize(first, 10, 5000), "work in flight may use what was given up");
}

#[test]
fn memory_does_not_grow_into_another_arena() {
    let mut arenas = with_arena(SMALLEST);
    arenas.add(BASE + SMALLEST, SMALLEST);
    let first = arenas.take(SMALLEST, 64).expect("room");
    let other = 2 * BASE + SMALLEST - first;
    assert!(!arenas.resize(first, SMALLEST, SMALLEST + 64));
    assert_eq!(arenas.take(SMALLEST, 64), Some(other), "a whole arena is free still");
}

#[test]
fn one_vacant_arena_stays_if_it_is_small() {
    let mut arenas = with_arena(KEPT);
    arenas.add(2 * BASE, KEPT);
    let first = arenas.take(KEPT, 64).expect("room");
    let second = arenas.take(KEPT, 64).expect("room");
    assert_eq!(arenas.release(first, KEPT), None);
    assert_eq!(arenas.release(second, KEPT), Some(second));
    assert_eq!(arenas.remove_vacant(), [first]);
    assert_eq!(arenas.bytes, 0);
    let mut arenas = with_arena(2 * KEPT);
    let only = arenas.take(1, 64).expect("room");
    assert_eq!(arenas.release(only, 1), Some(BASE));
}

#[test]
fn arenas_grow_with_what_is_needed() {
    assert_eq!(Arenas::default().next_size(1, 64), (SMALLEST, SMALLEST));
    assert_eq!(Arenas::default().next_size(3 << 20, 64), (4 << 20, 4 << 20));
    assert_eq!(Arenas::default().next_size(2 << 20, 128), (4 << 20, 4 << 20));
    assert_eq!(with_arena(8 << 20).next_size(1, 64), (8 << 20, SMALLEST));
    assert_eq!(with_arena(1 << 30).next_size(1, 64), (LARGEST, SMALLEST));
}
