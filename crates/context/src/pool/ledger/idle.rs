//! The indices of idle memory: what is ready, by size; what is in flight, by release; and the segments
//! that are vacant, by age.

use super::classes::Class;
use std::collections::{BTreeMap, BTreeSet};

/// A segment that is one ready block.
#[derive(Clone, Copy, Debug)]
struct Vacant {
    segment: u64,
    capacity: u64,
}

/// Idle memory of one class.
#[derive(Debug, Default)]
struct OfClass {
    /// The capacity and address of each ready block.
    ready: BTreeSet<(u64, u64)>,
    ready_bytes: u64,
    in_flight_bytes: u64,
    /// The one that became vacant first is in front.
    vacant: BTreeMap<u64, Vacant>,
    vacant_bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Idle {
    classes: [OfClass; Class::COUNT],
    /// The address of each block in flight, by the number of its release.
    in_flight: BTreeMap<u64, u64>,
    last_release: u64,
    last_vacant: u64,
}

impl Idle {
    pub(super) fn add_ready(&mut self, class: Class, capacity: u64, address: u64) {
        let of_class = &mut self.classes[class as usize];
        of_class.ready.insert((capacity, address));
        of_class.ready_bytes += capacity;
    }

    pub(super) fn remove_ready(&mut self, class: Class, capacity: u64, address: u64) {
        let of_class = &mut self.classes[class as usize];
        of_class.ready.remove(&(capacity, address));
        of_class.ready_bytes -= capacity;
    }

    /// The capacities and addresses of the ready blocks of at least a capacity, the smallest in front.
    pub(super) fn ready_from(
        &self,
        class: Class,
        capacity: u64,
    ) -> impl Iterator<Item = (u64, u64)> {
        self.classes[class as usize].ready.range((capacity, 0)..).copied()
    }

    /// Adds a block that work in flight may still use.  Returns the number of its release.
    pub(super) fn add_in_flight(&mut self, class: Class, capacity: u64, address: u64) -> u64 {
        self.last_release += 1;
        self.in_flight.insert(self.last_release, address);
        self.classes[class as usize].in_flight_bytes += capacity;
        self.last_release
    }

    pub(super) fn remove_in_flight(&mut self, class: Class, capacity: u64, release: u64) {
        self.in_flight.remove(&release);
        self.classes[class as usize].in_flight_bytes -= capacity;
    }

    /// The first release and its block, if it has a number up to that one.
    pub(super) fn first_in_flight(&self, up_to: u64) -> Option<(u64, u64)> {
        let (release, address) = self.in_flight.first_key_value()?;
        (*release <= up_to).then_some((*release, *address))
    }

    /// Adds a vacant segment.  Returns its number, in the order in which they became so.
    pub(super) fn add_vacant(&mut self, class: Class, capacity: u64, segment: u64) -> u64 {
        self.last_vacant += 1;
        let of_class = &mut self.classes[class as usize];
        of_class.vacant.insert(self.last_vacant, Vacant { segment, capacity });
        of_class.vacant_bytes += capacity;
        self.last_vacant
    }

    pub(super) fn remove_vacant(&mut self, class: Class, since: u64) {
        let of_class = &mut self.classes[class as usize];
        if let Some(Vacant { capacity, .. }) = of_class.vacant.remove(&since) {
            of_class.vacant_bytes -= capacity;
        }
    }

    /// The segment that has been vacant for longest, of the class of the largest ones.  Others are
    /// worth little memory, and as many calls of the driver: they count only if they hold more than
    /// `kept` bytes.
    pub(super) fn oldest_vacant(&self, kept: u64) -> Option<u64> {
        let [others @ .., large] = &self.classes;
        let too_many = others.iter().map(|it| it.vacant_bytes).sum::<u64>() > kept;
        let others = others.iter().rev().filter(|_| too_many);
        let oldest =
            std::iter::once(large).chain(others).find_map(|it| it.vacant.first_key_value());
        oldest.map(|(_, vacant)| vacant.segment)
    }

    /// The segment that became vacant last, and its capacity.
    pub(super) fn newest_vacant(&self) -> Option<(u64, u64)> {
        let newest = self.classes.iter().filter_map(|it| it.vacant.last_key_value());
        let newest = newest.max_by_key(|(since, _)| **since);
        newest.map(|(_, vacant)| (vacant.segment, vacant.capacity))
    }

    /// All vacant segments, those of the largest class in front.
    pub(super) fn vacant(&self) -> impl Iterator<Item = u64> {
        let by_class = self.classes.iter().rev();
        by_class.flat_map(|it| it.vacant.values().map(|vacant| vacant.segment))
    }

    /// How many bytes are ready in segments that are not vacant.
    pub(super) fn ready_in_parts(&self, class: Class) -> u64 {
        let OfClass { ready_bytes, vacant_bytes, .. } = &self.classes[class as usize];
        ready_bytes - vacant_bytes
    }

    pub(super) fn last_release(&self) -> u64 {
        self.last_release
    }

    /// How many bytes of a class work in flight may still use.
    pub(super) fn in_flight_bytes(&self, class: Class) -> u64 {
        self.classes[class as usize].in_flight_bytes
    }

    pub(super) fn all_in_flight_bytes(&self) -> u64 {
        self.classes.iter().map(|it| it.in_flight_bytes).sum()
    }
}
