//! The indices of released memory: what is ready, by size; what is in flight, by release; and the segments
//! that are vacant, by age.

use super::blocks::{Block, Segment, State};
use super::classes::SizeClass;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct OfClass {
    pub(super) reserved: u64,
    /// The capacity and address of each ready block.
    pub(super) ready: BTreeSet<(u64, u64)>,
    /// The bytes that are ready in segments that are not vacant.
    pub(super) ready_in_parts: u64,
    /// The bytes that work in flight may still use.
    pub(super) in_flight: u64,
    /// The number and address of each vacant segment.  The one that became so first is in front.
    vacant: BTreeSet<(u64, u64)>,
    vacant_bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) classes: [OfClass; SizeClass::COUNT],
    /// The release and address of each block in flight.
    in_flight: BTreeSet<(u64, u64)>,
    last_vacant: u64,
}

impl Index {
    /// Adds a released block of a segment by its state, or removes it.
    fn change(&mut self, segment: &Segment, address: u64, block: &Block, is_added: bool) {
        let of_class = &mut self.classes[segment.class as usize];
        let bytes = match block.state {
            State::InFlight { release } => {
                put(&mut self.in_flight, (release, address), is_added);
                &mut of_class.in_flight
            }
            State::Ready => {
                put(&mut of_class.ready, (block.capacity, address), is_added);
                if block.capacity == segment.capacity {
                    put(&mut of_class.vacant, (segment.vacant_since, address), is_added);
                    &mut of_class.vacant_bytes
                } else {
                    &mut of_class.ready_in_parts
                }
            }
            State::InUse(_) | State::Withheld => return,
        };
        *bytes = add(*bytes, block.capacity, is_added);
    }

    pub(super) fn add(&mut self, segment: &mut Segment, address: u64, block: &Block) {
        self.last_vacant += 1;
        segment.vacant_since = self.last_vacant;
        self.change(segment, address, block, true);
    }

    pub(super) fn remove(&mut self, segment: &Segment, address: u64, block: &Block) {
        self.change(segment, address, block, false);
    }

    /// The block in flight that was released first, if its release has a number up to that one.
    pub(super) fn first_in_flight(&self, up_to: u64) -> Option<u64> {
        let (release, address) = self.in_flight.first()?;
        (*release <= up_to).then_some(*address)
    }

    /// How many bytes work in flight may still use.
    pub(super) fn in_flight_bytes(&self) -> u64 {
        self.classes.iter().map(|it| it.in_flight).sum()
    }

    /// The segment that has been vacant for longest, of the class of the largest ones.  Others are
    /// worth little memory, and as many calls of the driver: they count only if they hold more than
    /// `kept` bytes.
    pub(super) fn oldest_vacant(&self, kept: u64) -> Option<u64> {
        let [others @ .., large] = &self.classes;
        let too_many = others.iter().map(|it| it.vacant_bytes).sum::<u64>() > kept;
        let others = others.iter().rev().filter(|_| too_many);
        std::iter::once(large)
            .chain(others)
            .find_map(|it| it.vacant.first())
            .map(|(_, segment)| *segment)
    }

    pub(super) fn newest_vacant(&self) -> Option<u64> {
        let newest = self.classes.iter().filter_map(|it| it.vacant.last());
        newest.max().map(|(_, segment)| *segment)
    }

    /// All vacant segments, those of the largest class in front.
    pub(super) fn vacant(&self) -> impl Iterator<Item = u64> {
        self.classes.iter().rev().flat_map(|it| it.vacant.iter().map(|(_, segment)| *segment))
    }
}

fn add(bytes: u64, more: u64, is_added: bool) -> u64 {
    if is_added { bytes + more } else { bytes - more }
}

fn put(index: &mut BTreeSet<(u64, u64)>, entry: (u64, u64), is_added: bool) {
    match is_added {
        true => index.insert(entry),
        false => index.remove(&entry),
    };
}
