//! The blocks that tile the segments: how they are split, found and merged.
//!
//! A released block is *ready* at once if only work of this project could use it, which was complete
//! before.  Otherwise it is *in flight* until there is evidence that all work is complete which may
//! use it.  Such releases are numbered, and one number describes the evidence: it covers all
//! releases up to it.  Ready neighbours merge.

use super::Access;
use super::classes::Class;
use super::idle::Idle;
use std::collections::BTreeMap;

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
    /// Its number among the vacant segments, if it is one ready block.
    vacant_since: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By address.
    blocks: BTreeMap<u64, Block>,
    /// By address.
    segments: BTreeMap<u64, Tiling>,
    idle: Idle,
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
        if let Some(since) = vacant_since {
            self.idle.remove_vacant(segment.class, since);
        }
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
            State::Ready => self.idle.remove_ready(class, capacity, address),
            State::InFlight { release } => self.idle.remove_in_flight(class, capacity, release),
            _ => {}
        }
    }

    fn tiling_mut(&mut self, segment: u64) -> &mut Tiling {
        self.segments.get_mut(&segment).expect("a block lies in a segment")
    }

    /// Begins the use of a block.  Its segment is no longer vacant.  Returns that segment.
    fn begin_use(&mut self, segment: u64) -> Segment {
        let tiling = self.tiling_mut(segment);
        tiling.in_use += 1;
        let (is_first, segment) = (tiling.in_use == 1, tiling.segment);
        if let Some(since) = tiling.vacant_since.take() {
            self.idle.remove_vacant(segment.class, since);
        }
        if is_first {
            self.unused_bytes -= segment.capacity;
            self.unused_segments -= 1;
        }
        segment
    }

    /// Ends the use of a block.  Returns its segment, and whether that is open.
    fn end_use(&mut self, segment: u64) -> (Segment, bool) {
        let tiling = self.tiling_mut(segment);
        tiling.in_use -= 1;
        let (is_last, segment, is_open) = (tiling.in_use == 0, tiling.segment, tiling.is_open);
        if is_last {
            self.unused_bytes += segment.capacity;
            self.unused_segments += 1;
        }
        (segment, is_open)
    }

    /// The ready block that fits best: the smallest that is large enough.  Unused segments beyond
    /// `largest_unused` do not count.
    pub(super) fn best_fit(&self, class: Class, capacity: u64, largest_unused: u64) -> Option<u64> {
        let mut fitting = self.idle.ready_from(class, capacity);
        let fits = |(found, address)| found <= largest_unused || !self.is_vacant(address);
        fitting.find(|block| fits(*block)).map(|(_, address)| address)
    }

    /// A segment of about that capacity that is one ready block: its capacity and address.
    pub(super) fn best_vacant(&self, class: Class, capacity: u64, most: u64) -> Option<(u64, u64)> {
        let fitting = self.idle.ready_from(class, capacity);
        let mut fitting = fitting.take_while(|(found, _)| *found <= most);
        fitting.find(|(_, address)| self.is_vacant(*address))
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

    /// Takes the first `capacity` bytes of a ready block into use, or all of a new closed segment.
    /// Returns the block's segment.
    pub(super) fn take(&mut self, address: u64, capacity: u64, size: u64) -> u64 {
        let Block { segment, capacity: whole, state: was, has_residue, .. } = self.blocks[&address];
        let Segment { class, .. } = self.begin_use(segment);
        self.forget_idle(address, whole, was, class);
        let rest = whole - capacity;
        let is_split = rest >= class.step();
        let capacity = if is_split { capacity } else { whole };
        let (state, is_alone) = (State::InUse(Access::Process), false);
        let taken = Block { segment, capacity, size, state, is_alone, has_residue };
        *self.block_mut(address) = taken;
        if is_split {
            // The block behind it is not ready, or it would have been merged.
            let (behind, state) = (address + capacity, State::Ready);
            self.blocks.insert(behind, Block { capacity: rest, size: 0, state, ..taken });
            self.idle.add_ready(class, rest, behind);
        }
        segment
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
        match self.end_use(segment) {
            (segment, true) => self.add_ready(address, segment),
            (_, false) => self.block_mut(address).state = State::Closed,
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
        let release = self.idle.add_in_flight(class, capacity, address);
        self.block_mut(address).state = State::InFlight { release };
    }

    /// Makes a block of an open segment ready that counts neither as in use nor as idle, and merges it
    /// with its neighbours.
    fn add_ready(&mut self, address: u64, segment: Segment) {
        let Segment { class, .. } = segment;
        let is_ready =
            |(_, it): &(&u64, &Block)| it.segment == segment.address && it.state == State::Ready;
        let before = self.blocks.range(..address).next_back().filter(is_ready);
        let before = before.map(|(at, block)| (*at, *block));
        let mut behind = self.blocks.range(address..);
        let (_, block) = behind.next().expect("the caller has found it");
        let (mut start, mut merged) = (address, *block);
        if let Some((at, next)) = behind.next().filter(is_ready).map(|(at, block)| (*at, *block)) {
            self.idle.remove_ready(class, next.capacity, at);
            self.blocks.remove(&at);
            merged.capacity += next.capacity;
            merged.has_residue |= next.has_residue;
        }
        if let Some((at, before)) = before {
            self.idle.remove_ready(class, before.capacity, at);
            self.blocks.remove(&address);
            start = at;
            merged.capacity += before.capacity;
            merged.has_residue |= before.has_residue;
        }
        let (state, is_alone, capacity) = (State::Ready, false, merged.capacity);
        *self.block_mut(start) = Block { size: 0, state, is_alone, ..merged };
        self.idle.add_ready(class, capacity, start);
        if capacity == segment.capacity {
            let since = self.idle.add_vacant(class, capacity, start);
            self.tiling_mut(start).vacant_since = Some(since);
        }
    }

    /// All work is complete that could use what was released up to that number.
    pub(super) fn mark_complete(&mut self, up_to: u64) {
        while let Some((release, address)) = self.idle.first_in_flight(up_to) {
            let Block { segment, capacity, .. } = self.blocks[&address];
            let tiling = self.tiling_mut(segment);
            tiling.in_flight -= 1;
            let segment = tiling.segment;
            self.idle.remove_in_flight(segment.class, capacity, release);
            self.add_ready(address, segment);
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
            self.block_mut(at).state = State::Closed;
        }
    }

    /// Closes all segments, in each of which something is in use.
    pub(super) fn close_all(&mut self) {
        let segments: Vec<_> = self.segments.keys().copied().collect();
        segments.into_iter().for_each(|segment| self.close(segment));
    }

    /// Resizes a block in use to hold `size` bytes, if its segment is for blocks of that class.
    pub(super) fn resize(&mut self, address: u64, size: u64) -> bool {
        let Block { segment, capacity, state, is_alone, .. } = self.blocks[&address];
        let Tiling { segment: Segment { class, .. }, is_open, .. } = self.segments[&segment];
        let wanted = class.capacity(size);
        if !matches!(state, State::InUse(_)) || is_alone || !is_open || Class::of(size) != class {
            return false;
        }
        if wanted > capacity && !self.grow(address, wanted - capacity) {
            return false;
        }
        let block = self.block_mut(address);
        block.size = size;
        let (end, rest) = (address + wanted, block.capacity - wanted);
        if rest >= class.step() {
            block.capacity = wanted;
            let rest = Block { size: 0, capacity: rest, is_alone: false, ..*block };
            self.blocks.insert(end, rest);
            self.begin_use(segment);
            match wanted > capacity {
                true => self.return_ready(end),
                false => self.return_in_flight(end),
            }
        }
        true
    }

    /// Adds the ready block behind a block to it, if that has `more` bytes.
    fn grow(&mut self, address: u64, more: u64) -> bool {
        let Block { segment, capacity, .. } = self.blocks[&address];
        let end = address + capacity;
        let behind =
            self.blocks.get(&end).filter(|it| it.segment == segment && it.state == State::Ready);
        let Some(behind) = behind.filter(|it| it.capacity >= more).copied() else { return false };
        self.forget_idle(end, behind.capacity, State::Ready, self.segments[&segment].segment.class);
        self.blocks.remove(&end);
        let block = self.block_mut(address);
        block.capacity += behind.capacity;
        block.has_residue |= behind.has_residue;
        true
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

    /// All segments in which nothing is in use, those first that have nothing in flight either.
    pub(super) fn unused(&self) -> Vec<u64> {
        let released = self.segments.iter().filter(|(_, it)| it.in_use == 0 && it.in_flight > 0);
        self.idle.vacant().chain(released.map(|(address, _)| *address)).collect()
    }

    pub(super) fn get(&self, address: u64) -> Option<&Block> {
        self.blocks.get(&address)
    }

    pub(super) fn get_mut(&mut self, address: u64) -> Option<&mut Block> {
        self.blocks.get_mut(&address)
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

    pub(super) fn idle(&self) -> &Idle {
        &self.idle
    }

    /// The bytes and the number of unused segments.
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
