//! The indices of released memory: what is ready, by size; what is in flight, by release; and the segments
//! that are vacant, by age.

use super::blocks::{Block, Segment, State};
use super::classes::Class;
use std::collections::{BTreeMap, BTreeSet};

/// The memory of one class.
#[derive(Debug, Default)]
pub(super) struct OfClass {
    /// The bytes of all its segments.
    pub(super) reserved: u64,
    /// The capacity and address of each ready block.
    pub(super) ready: BTreeSet<(u64, u64)>,
    /// The bytes that are ready in segments that are not vacant.
    pub(super) ready_in_parts: u64,
    /// The bytes that work in flight may still use.
    pub(super) in_flight: u64,
    /// The vacant segments.  The one that became so first is in front.
    vacant: BTreeMap<u64, u64>,
    vacant_bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) classes: [OfClass; Class::COUNT],
    /// The address of each block in flight, by the number of its release.
    in_flight: BTreeMap<u64, u64>,
    last_vacant: u64,
}

impl Index {
    /// Adds a block of a segment by its state.
    pub(super) fn add(&mut self, segment: &mut Segment, address: u64, block: &Block) {
        let of_class = &mut self.classes[segment.class as usize];
        match block.state {
            State::InFlight { release } => {
                self.in_flight.insert(release, address);
                of_class.in_flight += block.capacity;
            }
            State::Ready => {
                of_class.ready.insert((block.capacity, address));
                if block.capacity < segment.capacity {
                    of_class.ready_in_parts += block.capacity;
                    return;
                }
                self.last_vacant += 1;
                segment.vacant_since = self.last_vacant;
                of_class.vacant.insert(segment.vacant_since, address);
                of_class.vacant_bytes += block.capacity;
            }
            State::InUse(_) | State::Withheld => {}
        }
    }

    /// Removes a block that may have been added.
    pub(super) fn remove(&mut self, segment: &Segment, address: u64, block: &Block) {
        let of_class = &mut self.classes[segment.class as usize];
        match block.state {
            State::InFlight { release } => {
                self.in_flight.remove(&release);
                of_class.in_flight -= block.capacity;
            }
            State::Ready => {
                of_class.ready.remove(&(block.capacity, address));
                if block.capacity < segment.capacity {
                    of_class.ready_in_parts -= block.capacity;
                    return;
                }
                of_class.vacant.remove(&segment.vacant_since);
                of_class.vacant_bytes -= block.capacity;
            }
            State::InUse(_) | State::Withheld => {}
        }
    }

    /// The block in flight that was released first, if its release has a number up to that one.
    pub(super) fn first_in_flight(&self, up_to: u64) -> Option<u64> {
        let (release, address) = self.in_flight.first_key_value()?;
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
        std::iter::once(large).chain(others).find_map(|it| it.vacant.values().next().copied())
    }

    /// The segment that became vacant last.
    pub(super) fn newest_vacant(&self) -> Option<u64> {
        let newest = self.classes.iter().filter_map(|it| it.vacant.last_key_value());
        newest.max().map(|(_, segment)| *segment)
    }

    /// All vacant segments, those of the largest class in front.
    pub(super) fn vacant(&self) -> impl Iterator<Item = u64> {
        self.classes.iter().rev().flat_map(|it| it.vacant.values().copied())
    }
}
