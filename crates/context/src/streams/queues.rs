//! Memory that work in flight retains: one queue for each stream, in the order in which its work completes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

/// Pairs of a point in a stream's work and what is retained until that point is reached.  The points
/// of one stream are reached in order, so asking for the first one is enough.
#[derive(Debug)]
pub(super) struct Queues<Point, Retained> {
    /// By the stream's handle.  None is empty.
    queues: BTreeMap<usize, VecDeque<(Point, Retained)>>,
    /// The stream that [`take_from_some`](Self::take_from_some) asked for last.
    last_asked: usize,
}

impl<Point, Retained> Default for Queues<Point, Retained> {
    fn default() -> Self {
        Self { queues: BTreeMap::new(), last_asked: 0 }
    }
}

impl<Point, Retained> Queues<Point, Retained> {
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// The number of streams that have any.
    pub(super) fn streams(&self) -> usize {
        self.queues.len()
    }

    /// The number of points of a stream.
    pub(super) fn of(&self, stream: usize) -> usize {
        self.queues.get(&stream).map_or(0, VecDeque::len)
    }

    pub(super) fn push(&mut self, stream: usize, point: Point, retained: Retained) {
        self.queues.entry(stream).or_default().push_back((point, retained));
    }

    pub(super) fn take_from(
        &mut self,
        stream: usize,
        is_reached: impl Fn(&Point) -> bool,
    ) -> Vec<(Point, Retained)> {
        let mut taken = Vec::new();
        if let Entry::Occupied(mut queue) = self.queues.entry(stream) {
            let passed = queue.get().iter().take_while(|(point, _)| is_reached(point)).count();
            taken.extend(queue.get_mut().drain(..passed));
            if queue.get().is_empty() {
                queue.remove();
            }
        }
        taken
    }

    /// Takes out what up to `count` streams have passed, `except` one.  The next call goes on after
    /// them, so that every stream has its turn, also one that nobody uses again.
    pub(super) fn take_from_some(
        &mut self,
        except: Option<usize>,
        count: usize,
        is_reached: impl Fn(&Point) -> bool,
    ) -> Vec<(Point, Retained)> {
        let is_there = except.is_some_and(|stream| self.queues.contains_key(&stream));
        let others = self.queues.len() - usize::from(is_there);
        let mut taken = Vec::new();
        for _ in 0..count.min(others) {
            let behind = self.queues.range((Excluded(self.last_asked), Unbounded));
            let mut in_turn = behind.chain(&self.queues).map(|(&stream, _)| stream);
            let Some(next) = in_turn.find(|&stream| Some(stream) != except) else { break };
            self.last_asked = next;
            taken.append(&mut self.take_from(next, &is_reached));
        }
        taken
    }

    /// The last point of each stream.
    pub(super) fn ends(&self) -> impl Iterator<Item = &Point> {
        self.queues.values().filter_map(|queue| queue.back()).map(|(point, _)| point)
    }

    pub(super) fn take(&mut self, is_reached: impl Fn(&Point) -> bool) -> Vec<(Point, Retained)> {
        let streams: Vec<usize> = self.queues.keys().copied().collect();
        streams.into_iter().flat_map(|stream| self.take_from(stream, &is_reached)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Points are numbers; those up to a limit are reached.
    fn queues(of: &[(usize, u32)]) -> Queues<u32, ()> {
        let mut queues = Queues::default();
        of.iter().for_each(|&(stream, point)| queues.push(stream, point, ()));
        queues
    }

    fn points(taken: Vec<(u32, ())>) -> Vec<u32> {
        taken.into_iter().map(|(point, ())| point).collect()
    }

    #[test]
    fn a_stream_is_asked_up_to_its_first_point_that_is_not_reached() {
        let mut queues = queues(&[(5, 1), (5, 2), (5, 9), (5, 3), (7, 1)]);
        let asked = Cell::new(0);
        let is_reached = |point: &u32| {
            asked.set(asked.get() + 1);
            *point < 5
        };
        assert_eq!(points(queues.take_from(5, is_reached)), [1, 2]);
        assert_eq!(asked.get(), 3);
        assert!(points(queues.take_from(6, is_reached)).is_empty());
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn others_have_their_turns() {
        let mut queues = queues(&[(1, 9), (2, 9), (3, 9), (4, 9)]);
        let asked = Cell::new(Vec::new());
        let mut turn = |except, count| {
            queues.take_from_some(except, count, |point| {
                let mut list = asked.take();
                list.push(*point);
                asked.set(list);
                false
            });
            queues.last_asked
        };
        let two = Some(2);
        assert_eq!([turn(two, 1), turn(two, 1), turn(two, 1), turn(two, 1)], [1, 3, 4, 1]);
        assert_eq!(turn(None, 2), 3);
        assert_eq!(asked.take().len(), 6);
        turn(two, 100);
        assert_eq!(asked.take().len(), 3, "each one once");
    }

    proptest! {
        #[test]
        fn each_point_is_taken_once_and_in_order(
            steps in prop::collection::vec((0..6usize, 0..4usize, 0..30u32), 1..60)
        ) {
            let mut queues = Queues::default();
            let mut taken: Vec<(u32, usize)> = Vec::new();
            let mut reached = 0;
            for (number, (stream, others, advance)) in (1u32..).zip(steps.iter().copied()) {
                queues.push(stream, number, stream);
                reached = reached.max(number.saturating_sub(advance));
                taken.extend(queues.take_from(stream, |point| *point <= reached));
                taken.extend(queues.take_from_some(Some(stream), others, |point| *point <= reached));
                prop_assert!(taken.iter().all(|(point, _)| *point <= reached));
            }
            taken.extend(queues.take(|_| true));
            prop_assert!(queues.is_empty());
            for stream in 0..6 {
                let of = |list: &[(u32, usize)]| -> Vec<u32> {
                    list.iter().filter(|(_, of)| *of == stream).map(|(point, _)| *point).collect()
                };
                let pushed: Vec<(u32, usize)> =
                    (1u32..).zip(steps.iter().map(|(stream, ..)| *stream)).collect();
                prop_assert_eq!(of(&taken), of(&pushed));
            }
        }
    }
}
