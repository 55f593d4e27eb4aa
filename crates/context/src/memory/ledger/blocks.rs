//! The blocks that tile the segments: how they are split, found and merged.
//!
//! A released block is *ready* at once if only work of this project could use it, which was complete
//! before.  Otherwise it is *in flight* until there is evidence that all work is complete which may
//! use it.  Such releases are numbered, and one number describes the evidence: it covers all
//! releases up to it.  Ready neighbours merge.

use super::Access;
use super::classes::Class;
use std::collections::{BTreeMap, BTreeSet};

/// Memory that the driver has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) capacity: u64,
    pub(super) class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InUse(Access),
    /// Released by its owner, but other processes may still have it mapped.
    Exported,
    /// Taken out while its bytes are wiped.
    Wiping,
    Ready,
    InFlight {
        release: u64,
    },
    /// Released, in a segment that goes back to the driver with its last block.
    Closed,
}

impl State {
    pub(super) fn is_idle(self) -> bool {
        matches!(self, Self::Ready | Self::InFlight { .. } | Self::Closed)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Where its segment begins.
    pub(super) segment: u64,
    pub(super) capacity: u64,
    /// The requested size, in bytes, of a block in use.
    pub(super) size: u64,
    pub(super) state: State,
    /// Whether it is all of its segment, and stays so while it is in use.
    pub(super) is_alone: bool,
    /// Whether bytes that nobody has written since may hold residue of earlier buffers.
    pub(super) has_residue: bool,
}

#[derive(Debug)]
struct Tiling {
    segment: Segment,
    /// The number of blocks that are not idle.
    in_use: usize,
    in_flight: usize,
    /// Whether its released blocks may serve again.
    is_open: bool,
    /// When it became one ready block, in the order of `Blocks::vacant`.
    vacant_since: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By address.
    blocks: BTreeMap<u64, Block>,
    /// By address.
    segments: BTreeMap<u64, Tiling>,
    /// Capacity and address of the ready blocks of each class.
    ready: [BTreeSet<(u64, u64)>; Class::COUNT],
    /// The address of each block in flight, by the number of its release.
    in_flight: BTreeMap<u64, u64>,
    in_flight_bytes: [u64; Class::COUNT],
    /// The segments of each class that are one ready block, the one that became so first in front.
    vacant: [BTreeMap<u64, u64>; Class::COUNT],
    last_vacant: u64,
    last_release: u64,
    /// The segments in which nothing is in use, and what they hold.
    unused_segments: u64,
    unused_bytes: u64,
    reserved: [u64; Class::COUNT],
}

impl Blocks {
    /// Adds a segment, of which all is ready.
    pub(super) fn add_segment(&mut self, segment: Segment, is_open: bool) {
        let Segment { address, capacity, class } = segment;
        let tiling = Tiling { segment, in_use: 1, in_flight: 0, is_open, vacant_since: None };
        self.segments.insert(address, tiling);
        self.reserved[class as usize] += capacity;
        let state = State::Wiping; // taken out until the caller sees it
        let (is_alone, has_residue) = (false, false);
        let block = Block { segment: address, capacity, size: 0, state, is_alone, has_residue };
        self.blocks.insert(address, block);
        self.return_ready(address);
    }

    /// Removes a segment with all its blocks, none of which is in use.
    pub(super) fn remove_segment(&mut self, address: u64) -> Segment {
        let Tiling { segment, vacant_since, .. } =
            self.segments.remove(&address).expect("a segment that the caller has found");
        self.reserved[segment.class as usize] -= segment.capacity;
        self.unused_bytes -= segment.capacity;
        self.unused_segments -= 1;
        vacant_since.map(|since| self.vacant[segment.class as usize].remove(&since));
        let mut at = address;
        while at < address + segment.capacity {
            let Block { capacity, state, .. } = self.blocks.remove(&at).expect("blocks tile it");
            debug_assert!(state.is_idle(), "a block in use in a segment to be freed");
            self.forget_idle(at, capacity, state, segment.class);
            at += capacity;
        }
        segment
    }

    fn forget_idle(&mut self, address: u64, capacity: u64, state: State, class: Class) {
        match state {
            State::Ready => {
                self.ready[class as usize].remove(&(capacity, address));
            }
            State::InFlight { release } => {
                self.in_flight.remove(&release);
                self.in_flight_bytes[class as usize] -= capacity;
            }
            _ => {}
        }
    }

    fn tiling_mut(&mut self, segment: u64) -> &mut Tiling {
        self.segments.get_mut(&segment).expect("a block lies in a segment")
    }

    fn begin_use(&mut self, segment: u64) {
        let tiling = self.tiling_mut(segment);
        tiling.in_use += 1;
        if tiling.in_use == 1 {
            let capacity = tiling.segment.capacity;
            self.unused_bytes -= capacity;
            self.unused_segments -= 1;
        }
    }

    fn end_use(&mut self, segment: u64) {
        let tiling = self.tiling_mut(segment);
        tiling.in_use -= 1;
        if tiling.in_use == 0 {
            let capacity = tiling.segment.capacity;
            self.unused_bytes += capacity;
            self.unused_segments += 1;
        }
    }

    /// The ready block that fits best: the smallest that is large enough.  Unused segments beyond
    /// `largest_unused` do not count.
    pub(super) fn best_fit(&self, class: Class, capacity: u64, largest_unused: u64) -> Option<u64> {
        let fitting = self.ready[class as usize].range((capacity, 0)..);
        fitting.map(|(found, address)| (*found, *address)).find_map(|(found, address)| {
            (found <= largest_unused || !self.is_vacant(address)).then_some(address)
        })
    }

    /// A segment of about that capacity that is one ready block: its capacity and address.
    pub(super) fn best_vacant(&self, class: Class, capacity: u64, most: u64) -> Option<(u64, u64)> {
        let fitting = self.ready[class as usize].range((capacity, 0)..=(most, u64::MAX));
        fitting.copied().find(|(_, address)| self.is_vacant(*address))
    }

    /// Notes that a block in use is all of its segment.  Returns how much of it is wasted.
    pub(super) fn mark_alone(&mut self, address: u64) -> u64 {
        let block = self.block_mut(address);
        block.is_alone = true;
        block.capacity - block.size
    }

    fn is_vacant(&self, address: u64) -> bool {
        self.segments.get(&address).is_some_and(|tiling| tiling.vacant_since.is_some())
    }

    /// Takes the first `capacity` bytes of a ready block into use.
    pub(super) fn take(&mut self, address: u64, capacity: u64, size: u64) {
        let Block { segment, capacity: whole, has_residue, .. } = self.blocks[&address];
        let class = self.tiling_mut(segment).segment.class;
        self.forget_idle(address, whole, State::Ready, class);
        self.begin_use(segment);
        if let Some(since) = self.tiling_mut(segment).vacant_since.take() {
            self.vacant[class as usize].remove(&since);
        }
        let is_split = whole - capacity >= class.step();
        let capacity = if is_split { capacity } else { whole };
        let state = State::InUse(Access::Process);
        let is_alone = false;
        let taken = Block { segment, capacity, size, state, is_alone, has_residue };
        self.blocks.insert(address, taken);
        if is_split {
            let rest = address + capacity;
            let block = Block { capacity: whole - capacity, size: 0, ..taken };
            self.blocks.insert(rest, block);
            self.add_ready(rest, class);
        }
    }

    /// Divides a block in use into several, of these sizes, one behind the other.
    pub(super) fn divide(&mut self, address: u64, parts: impl IntoIterator<Item = (u64, u64)>) {
        let whole = self.blocks[&address];
        let (mut at, end) = (address, address + whole.capacity);
        let mut last = address;
        for (size, capacity) in parts {
            debug_assert!(at + capacity <= end, "parts beyond the block");
            self.blocks.insert(at, Block { size, capacity, ..whole });
            last = at;
            at += capacity;
            self.begin_use(whole.segment);
        }
        self.end_use(whole.segment);
        self.blocks.get_mut(&last).expect("the last part").capacity += end - at;
    }

    /// Ends the use of a block, whose memory is ready.
    pub(super) fn return_ready(&mut self, address: u64) {
        let segment = self.blocks[&address].segment;
        self.end_use(segment);
        let tiling = self.tiling_mut(segment);
        let class = tiling.segment.class;
        if tiling.is_open {
            self.add_ready(address, class);
        } else {
            self.add_idle(address, State::Closed);
        }
    }

    /// Ends the use of a block that work in flight may still use.
    pub(super) fn return_in_flight(&mut self, address: u64) {
        let Block { segment, capacity, .. } = self.blocks[&address];
        let tiling = self.tiling_mut(segment);
        if !tiling.is_open {
            return self.return_ready(address);
        }
        tiling.in_flight += 1;
        let class = tiling.segment.class;
        self.end_use(segment);
        self.last_release += 1;
        self.in_flight.insert(self.last_release, address);
        self.in_flight_bytes[class as usize] += capacity;
        self.add_idle(address, State::InFlight { release: self.last_release });
    }

    fn add_idle(&mut self, address: u64, state: State) {
        self.block_mut(address).state = state;
    }

    /// Makes a block ready that counts neither as in use nor as idle, and merges it with its
    /// neighbours.
    fn add_ready(&mut self, address: u64, class: Class) {
        let Block { segment, mut capacity, mut has_residue, .. } = self.blocks[&address];
        let mut start = address;
        let next = self.blocks.get(&(address + capacity)).copied();
        if let Some(next) = next.filter(|it| it.segment == segment && it.state == State::Ready) {
            self.forget_idle(address + capacity, next.capacity, State::Ready, class);
            self.blocks.remove(&(address + capacity));
            capacity += next.capacity;
            has_residue |= next.has_residue;
        }
        let before = self.blocks.range(..address).next_back().map(|(at, block)| (*at, *block));
        if let Some((at, before)) = before
            && before.segment == segment
            && before.state == State::Ready
        {
            self.forget_idle(at, before.capacity, State::Ready, class);
            self.blocks.remove(&address);
            start = at;
            capacity += before.capacity;
            has_residue |= before.has_residue;
        }
        let (state, is_alone) = (State::Ready, false);
        let block = Block { segment, capacity, size: 0, state, is_alone, has_residue };
        self.blocks.insert(start, block);
        self.ready[class as usize].insert((capacity, start));
        self.add_idle(start, State::Ready);
        let since = self.last_vacant + 1;
        let tiling = self.tiling_mut(segment);
        if capacity == tiling.segment.capacity {
            tiling.vacant_since = Some(since);
            self.last_vacant = since;
            self.vacant[class as usize].insert(since, segment);
        }
    }

    /// All work is complete that could use what was released up to that number.
    pub(super) fn mark_complete(&mut self, up_to: u64) {
        while let Some(entry) = self.in_flight.first_entry().filter(|it| *it.key() <= up_to) {
            let address = entry.remove();
            let Block { segment, capacity, .. } = self.blocks[&address];
            let tiling = self.tiling_mut(segment);
            tiling.in_flight -= 1;
            let class = tiling.segment.class;
            self.in_flight_bytes[class as usize] -= capacity;
            self.add_ready(address, class);
        }
    }

    /// Closes the segment of a block: nothing in it serves again.
    pub(super) fn close(&mut self, address: u64) {
        let segment = self.blocks[&address].segment;
        let tiling = self.tiling_mut(segment);
        if !tiling.is_open {
            return; // what was released since is closed already
        }
        tiling.is_open = false;
        (tiling.in_flight, tiling.vacant_since) = (0, None);
        let Segment { address: start, capacity, class } = tiling.segment;
        let within = self.blocks.range(start..start + capacity);
        let idle: Vec<_> =
            within.filter(|(_, block)| block.state.is_idle()).map(|it| *it.0).collect();
        for at in idle {
            let Block { capacity, state, .. } = self.blocks[&at];
            self.forget_idle(at, capacity, state, class);
            self.add_idle(at, State::Closed);
        }
    }

    /// Whether a segment is closed and nothing in it is in use any more.
    pub(super) fn is_finished(&self, segment: u64) -> bool {
        let tiling = &self.segments[&segment];
        !tiling.is_open && tiling.in_use == 0
    }

    /// Takes the ready blocks beside a block out of use, so that their residue can be wiped.
    /// Returns their addresses and capacities.
    pub(super) fn take_neighbours(&mut self, address: u64) -> Vec<(u64, u64)> {
        let segment = self.blocks[&address].segment;
        let Segment { capacity, .. } = self.segments[&segment].segment;
        let within = self.blocks.range(segment..segment + capacity);
        let unclean = within.filter(|(_, it)| it.state == State::Ready && it.has_residue);
        let unclean: Vec<_> = unclean.map(|(at, block)| (*at, block.capacity)).collect();
        for (at, capacity) in &unclean {
            self.take(*at, *capacity, 0);
            self.block_mut(*at).state = State::Wiping;
        }
        unclean
    }

    /// The segment that has been vacant for longest, of the class of the largest ones: smaller ones
    /// are worth little memory, and as many calls of the driver.
    pub(super) fn oldest_vacant(&self) -> Option<u64> {
        let oldest = self.vacant.iter().rev().find_map(BTreeMap::first_key_value);
        oldest.map(|(_, segment)| *segment)
    }

    /// The segment that became vacant last.
    pub(super) fn newest_vacant(&self) -> Option<Segment> {
        let newest = self.vacant.iter().filter_map(BTreeMap::last_key_value).max();
        newest.map(|(_, segment)| self.segments[segment].segment)
    }

    /// All segments in which nothing is in use, those first that have nothing in flight either.
    pub(super) fn unused(&self) -> Vec<u64> {
        let released = self.segments.iter().filter(|(_, it)| it.in_use == 0 && it.in_flight > 0);
        let vacant = self.vacant.iter().rev().flat_map(BTreeMap::values);
        vacant.chain(released.map(|(address, _)| address)).copied().collect()
    }

    pub(super) fn get(&self, address: u64) -> Option<&Block> {
        self.blocks.get(&address)
    }

    pub(super) fn block_mut(&mut self, address: u64) -> &mut Block {
        self.blocks.get_mut(&address).expect("the caller has found it")
    }

    /// The block that contains an address.
    pub(super) fn containing(&self, address: u64) -> Option<(u64, &Block)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.capacity).then_some((*start, block))
    }

    /// The last block that begins in a range of addresses.
    pub(super) fn last_in(&self, range: std::ops::RangeInclusive<u64>) -> Option<(u64, &Block)> {
        self.blocks.range(range).next_back().map(|(start, block)| (*start, block))
    }

    pub(super) fn last_release(&self) -> u64 {
        self.last_release
    }

    /// How many bytes of a class work in flight may still use.
    pub(super) fn in_flight_bytes(&self, class: Class) -> u64 {
        self.in_flight_bytes[class as usize]
    }

    pub(super) fn all_in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes.iter().sum()
    }

    /// What the segments hold in which nothing is in use, and how many they are.
    pub(super) fn unused_total(&self) -> (u64, u64) {
        (self.unused_bytes, self.unused_segments)
    }

    /// How much the segments of a class hold.
    pub(super) fn reserved(&self, class: Class) -> u64 {
        self.reserved[class as usize]
    }
}

#[cfg(test)]
impl Blocks {
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, Block)> {
        self.blocks.iter().map(|(address, block)| (*address, *block))
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = Segment> {
        self.segments.values().map(|tiling| tiling.segment)
    }
}
