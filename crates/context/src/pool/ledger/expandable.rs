//! The expandable segment: a range of addresses in which chunks of memory are mapped where blocks need them.
//!
//! The segment is a range much larger than its memory.  Its blocks lie wherever they fit, across chunks; what has no memory
//! behind it is an unmapped block.  When no ready block serves a request, chunks are added where the fewest complete one:
//! new ones, and beyond what the context needed at its peak those that lie free in other ready blocks, which move.

use super::blocks::{Block, Segment, State};
use super::tiling::merge;
use super::{Ledger, Request};
use std::ops::Range;

/// New chunks are created as long as the context has reserved at most one part in this many more than it needed at
/// its peak: to move one takes longer than to find room.
const ROOM_DIVISOR: u64 = 20;
/// A block has at least so many chunks, unless they are as small or as large as can be.  The larger they are, the fewer
/// calls they take, and the fewer lie free as a whole.
const PARTS: u64 = 16;
/// The largest chunk, in multiples of the granularity.
const LARGEST: u64 = 4;

/// Where chunks are to be mapped for a request.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) address: u64,
    /// Chunks that are still mapped elsewhere; the ledger has removed them there.
    pub(crate) moved: Vec<Segment>,
    /// The sizes of new chunks, behind them.
    pub(crate) created: Vec<u64>,
}

impl Ledger {
    /// Adds the range, of which nothing is mapped yet.
    pub(crate) fn add_range(&mut self, range: Range<u64>) {
        let (address, capacity) = (range.start, range.end - range.start);
        // It counts as in use, so that it never goes back by itself.
        let segment = Segment { in_use: 1, ..Segment::of_chunk(address, capacity, 0) };
        let (size, state, is_alone, has_residue) = (0, State::Unmapped, false, false);
        let block = Block { segment: address, capacity, size, state, is_alone, has_residue };
        self.segments.insert(address, segment);
        self.blocks.insert(address, block);
        self.range = range;
    }

    /// Whether an address lies in the expandable segment.
    pub(crate) fn is_expandable(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    pub(crate) fn has_chunks(&self) -> bool {
        !self.index.chunks.is_empty()
    }

    /// Plans the memory that a request lacks, in multiples of a granularity.  `None` if no unmapped addresses have room.
    pub(crate) fn plan(&mut self, request: &Request, granularity: u64) -> Option<Plan> {
        let within = self.blocks.range(self.range.clone());
        let holes = within.filter(|(_, block)| block.state == State::Unmapped);
        let places = holes.flat_map(|(hole, block)| {
            self.places(request.capacity, *hole..hole + block.capacity, granularity)
        });
        let (needed, address) = places.min()?;
        let kept = self.peak_with(request.size) / ROOM_DIVISOR * (ROOM_DIVISOR + 1);
        let room = kept.saturating_sub(self.account.stats.reserved_bytes);
        let created = needed.min(room / granularity * granularity);
        let moved = self.free_chunks(needed - created, address..address + needed);
        let moved: Vec<_> =
            moved.into_iter().map(|chunk| self.take_out(chunk, State::Unmapped)).collect();
        let mut left = needed - moved.iter().map(|chunk| chunk.capacity).sum::<u64>();
        let parts = (request.capacity / granularity / PARTS).next_power_of_two();
        let mut size = parts.min(LARGEST) * granularity;
        let mut created = Vec::new();
        while left > 0 {
            while size > left {
                size /= 2;
            }
            created.push(size);
            left -= size;
        }
        Some(Plan { address, moved, created })
    }

    /// How many bytes complete a block of a capacity within a hole, and where.
    fn places(
        &self,
        capacity: u64,
        hole: Range<u64>,
        granularity: u64,
    ) -> impl Iterator<Item = (u64, u64)> {
        let ready = |block: &Block| if block.state == State::Ready { block.capacity } else { 0 };
        let before = self.blocks.range(self.range.start..hole.start).next_back();
        let before = before.map_or(0, |(_, block)| ready(block));
        let behind = self.blocks.get(&hole.end).filter(|_| self.range.contains(&hole.end));
        let behind = behind.map_or(0, ready);
        let room = hole.end - hole.start;
        let lacks = |ready: u64| {
            let bytes = capacity.saturating_sub(ready);
            bytes.checked_next_multiple_of(granularity).unwrap_or(u64::MAX)
        };
        let all = if before + room + behind >= capacity { room } else { u64::MAX };
        let at_end = lacks(behind);
        let places = [
            (lacks(before), hole.start),
            (all, hole.start),
            (at_end, hole.end.saturating_sub(at_end)),
        ];
        places.into_iter().filter(move |(needed, _)| *needed <= room)
    }

    /// Free chunks of at most so many bytes together: those of the smallest ready blocks, which serve the fewest
    /// requests, but not of those beside a range.
    fn free_chunks(&self, mut bytes: u64, beside: Range<u64>) -> Vec<u64> {
        let mut found = Vec::new();
        for (_, start) in &self.index.free {
            let end = start + self.blocks[start].capacity;
            if *start == beside.end || end == beside.start {
                continue;
            }
            for (address, (capacity, _)) in self.index.chunks.range(start..&end) {
                if bytes >= *capacity && address + capacity <= end {
                    bytes -= capacity;
                    found.push(*address);
                }
            }
            if bytes == 0 {
                break;
            }
        }
        found
    }

    /// Takes a free chunk out for the driver.  Nothing else gets its addresses before it is unmapped.
    pub(super) fn remove_chunk(&mut self) -> Option<Segment> {
        let (_, start) = self.index.free.last()?;
        let (address, _) = self.index.chunks.range(start..).next()?;
        let chunk = self.take_out(*address, State::Withheld);
        self.count_freed(chunk.capacity);
        Some(chunk)
    }

    /// Removes a chunk that lies in a ready block.
    fn take_out(&mut self, address: u64, state: State) -> Segment {
        let (start, block) = self.containing(address).expect("blocks tile the segment");
        let end = start + block.capacity;
        let segment = self.segments.get_mut(&self.range.start).expect("the chunk lies in it");
        self.index.remove(segment, start, &self.blocks[&start]);
        let (capacity, handle) =
            self.index.chunks.remove(&address).expect("the caller has found it");
        let chunk = Segment::of_chunk(address, capacity, handle);
        self.split(address);
        self.split(address + capacity);
        let segment = self.segments.get_mut(&self.range.start).expect("found above");
        for (rest, until) in [(start, address), (address + capacity, end)] {
            if rest < until {
                self.index.add(segment, rest, &self.blocks[&rest]);
            }
        }
        self.set_state(address, state);
        chunk
    }

    /// Splits a block that no index has in two, unless one begins at the address.
    fn split(&mut self, address: u64) {
        if let Some((start, _)) = self.containing(address)
            && start < address
        {
            let rest = self.block_mut(start).split(address - start);
            self.blocks.insert(address, rest);
        }
    }

    /// Sets the state of a block that no index has.
    fn set_state(&mut self, address: u64, state: State) {
        self.block_mut(address).state = state;
        if state != State::Withheld {
            let segment = self.segments.get_mut(&self.range.start).expect("the block lies in it");
            merge(&mut self.blocks, &mut self.index, segment, address, state);
        }
    }

    /// Records that a chunk is unmapped, which was taken out for the driver.
    pub(crate) fn vacate(&mut self, chunk: &Segment) {
        // A reset of the device may have come first.
        if self.is_expandable(chunk.address) {
            self.set_state(chunk.address, State::Unmapped);
        }
    }

    /// A chunk that could not be given back stays where it is, out of use.
    pub(super) fn lose(&mut self, chunk: &Segment) {
        if self.is_expandable(chunk.address) {
            self.index.chunks.insert(chunk.address, (chunk.capacity, chunk.handle));
        }
    }

    /// Adds a chunk that is mapped where nothing was.
    pub(crate) fn add_chunk(&mut self, chunk: &Segment, is_usable: bool) {
        let Segment { address, capacity, handle, .. } = *chunk;
        self.split(address);
        self.split(address + capacity);
        self.index.chunks.insert(address, (capacity, handle));
        self.block_mut(address).has_residue = true;
        let state = if is_usable { State::Ready } else { State::Withheld };
        self.set_state(address, state);
    }

    /// Counts a chunk that the driver has created.
    pub(crate) fn count_created(&mut self, bytes: u64) {
        self.account.stats.driver_allocations += 1;
        self.account.count_reserved(bytes);
    }

    /// Counts a chunk that the driver has freed.
    pub(crate) fn count_freed(&mut self, bytes: u64) {
        self.account.stats.driver_frees += 1;
        self.account.stats.reserved_bytes -= bytes;
    }

    /// All chunks, as segments to be given back.
    pub(crate) fn chunks(&self) -> Vec<Segment> {
        let chunks = self.index.chunks.iter();
        chunks.map(|(at, (capacity, handle))| Segment::of_chunk(*at, *capacity, *handle)).collect()
    }
}

#[cfg(test)]
mod tests;
