//! Splits, reuses and merges blocks, and closes and removes segments.

use super::blocks::{Access, Block, Segment, State};
use super::entries::Ledger;
use super::index::Index;
use std::collections::BTreeMap;

impl Ledger {
    /// Takes the first `capacity` bytes of a ready block into use.  Returns the block's segment.
    pub(super) fn take(&mut self, address: u64, capacity: u64, size: u64) -> u64 {
        let block = self.blocks.get_mut(&address).expect("the caller has found it");
        let segment = self.segments.get_mut(&block.segment).expect("a block lies in a segment");
        self.index.remove(segment, address, block);
        segment.begin_use(&mut self.account);
        (block.state, block.size) = (State::InUse(Access::Process), size);
        if block.capacity - capacity >= segment.class.step() {
            // The next block is not ready, or it would have been merged.
            let rest = Block { state: State::Ready, ..block.split(capacity) };
            self.index.add(segment, address + capacity, &rest);
            self.blocks.insert(address + capacity, rest);
        }
        segment.address
    }

    /// Splits a block in use after its first `capacity` bytes.  Returns where the second one begins.
    pub(super) fn cut(&mut self, address: u64, capacity: u64) -> u64 {
        let rest = self.block_mut(address).split(capacity);
        self.blocks.insert(address + capacity, rest);
        self.segment_mut(rest.segment).in_use += 1;
        address + capacity
    }

    /// Ends the use of a block, whose memory is ready, or in flight if work may still use it.
    pub(super) fn end_use(&mut self, address: u64, is_in_flight: bool) {
        let block = self.blocks.get_mut(&address).expect("the caller has found it");
        let segment = self.segments.get_mut(&block.segment).expect("a block lies in a segment");
        block.has_residue |= is_in_flight;
        segment.end_use(&mut self.account);
        if !segment.is_open {
            block.state = State::Withheld;
            segment.may_have_users |= is_in_flight;
            if segment.in_use == 0 {
                self.finished.push(segment.address);
            }
        } else if is_in_flight {
            self.last_release += 1;
            block.state = State::InFlight { release: self.last_release };
            self.index.add(segment, address, block);
        } else {
            merge(&mut self.blocks, &mut self.index, segment, address);
        }
    }

    /// Records that all work that could use memory released up to that number is complete.
    pub(crate) fn mark_complete(&mut self, up_to: u64) {
        while let Some(address) = self.index.first_in_flight(up_to) {
            let block = &self.blocks[&address];
            let segment = self.segments.get_mut(&block.segment).expect("a block lies in a segment");
            self.index.remove(segment, address, block);
            merge(&mut self.blocks, &mut self.index, segment, address);
        }
    }

    /// Closes a segment: nothing in it is reused.
    pub(super) fn close(&mut self, segment: u64) {
        let segment = self.segments.get_mut(&segment).expect("the caller has found it");
        segment.is_open = false;
        for (address, block) in self.blocks.range_mut(segment.addresses()) {
            if !matches!(block.state, State::InUse(_)) {
                self.index.remove(segment, *address, block);
                segment.may_have_users |= matches!(block.state, State::InFlight { .. });
                block.state = State::Withheld;
            }
        }
    }

    /// Adds the beginning of the ready block after a block to it, if that has `more` bytes.
    pub(super) fn grow(&mut self, address: u64, more: u64) -> bool {
        let Block { segment, capacity, .. } = self.blocks[&address];
        let end = address + capacity;
        let has_room =
            |it: &Block| it.segment == segment && it.state == State::Ready && it.capacity >= more;
        if !self.blocks.get(&end).is_some_and(has_room) {
            return false;
        }
        self.take(end, more, 0);
        let taken = self.blocks.remove(&end).expect("taken above");
        self.segment_mut(segment).in_use -= 1;
        let block = self.block_mut(address);
        block.capacity += taken.capacity;
        block.has_residue |= taken.has_residue;
        true
    }

    /// Removes a segment with all its blocks, none of which is in use.  Once the driver has freed it, another
    /// thread may get the same address.
    pub(super) fn remove_segment(&mut self, address: u64) -> Segment {
        let mut segment = self.segments.remove(&address).expect("the caller has found it");
        let mut at = address;
        while at < segment.addresses().end {
            let block = self.blocks.remove(&at).expect("blocks tile the segment");
            debug_assert!(!matches!(block.state, State::InUse(_)), "a block in use is to be freed");
            self.index.remove(&segment, at, &block);
            segment.may_have_users |= matches!(block.state, State::InFlight { .. });
            at += block.capacity;
        }
        self.index.classes[segment.class as usize].reserved -= segment.capacity;
        segment.begin_use(&mut self.account); // no longer cached
        self.account.stats.driver_frees += 1;
        self.account.stats.reserved_bytes -= segment.capacity;
        segment
    }
}

/// Makes a block ready that nobody uses and no index has, and merges it with its ready neighbours.
fn merge(
    blocks: &mut BTreeMap<u64, Block>,
    index: &mut Index,
    segment: &mut Segment,
    address: u64,
) {
    let is_ready =
        |(_, it): &(&u64, &Block)| it.segment == segment.address && it.state == State::Ready;
    let mut from_here = blocks.range(address..);
    let (_, block) = from_here.next().expect("the caller has found it");
    let behind = from_here.next().filter(is_ready);
    let before = blocks.range(..address).next_back().filter(is_ready);
    let neighbours = [before, behind].map(|found| found.map(|(at, _)| *at));
    let (mut start, mut merged) = (address, *block);
    for at in neighbours.into_iter().flatten() {
        let neighbour = blocks[&at];
        index.remove(segment, at, &neighbour);
        blocks.remove(&start.max(at));
        start = start.min(at);
        merged.capacity += neighbour.capacity;
        merged.has_residue |= neighbour.has_residue;
    }
    (merged.state, merged.size, merged.is_alone) = (State::Ready, 0, false);
    index.add(segment, start, &merged);
    *blocks.get_mut(&start).expect("the first of them stays") = merged;
}
