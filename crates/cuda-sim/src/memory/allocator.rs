//! Allocates offsets of a device's address window.
//!
//! The window is divided into blocks of 2 MiB.  Small allocations are packed into shared blocks, larger ones
//! take whole blocks.  What was freed last comes back first, as on hardware: after a reset, and after each
//! free, the next allocation of that size has the same address.

use std::collections::BTreeMap;
use std::ops::Range;

/// The size and alignment to which a large allocation is rounded up.
pub const BLOCK: u64 = 2 << 20;
/// The largest allocation that shares a block.
pub const SMALL: u64 = 1 << 20;
pub const ALIGNMENT: u64 = 512;

/// The allocator of one window; offsets and sizes are in bytes.
#[derive(Debug)]
pub struct Allocator {
    blocks: Spans,
    /// The free parts of each shared block, by its start.
    shared: BTreeMap<u64, Spans>,
    /// Where something was freed and nothing lies since, the last one at the end.
    recent: Vec<u64>,
    /// Blocks that were freed, to be taken out.  Their contents must be discarded before anything else is
    /// allocated.
    pub freed: Vec<Range<u64>>,
}

impl Allocator {
    /// An allocator of the offsets in `window`, whose ends are multiples of [`BLOCK`].
    pub fn new(window: Range<u64>) -> Self {
        let (shared, recent, freed) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { blocks: Spans::new(window), shared, recent, freed }
    }

    /// How much of the device's memory an allocation of `size` uses; `None` if it overflows.
    pub fn footprint(size: u64) -> Option<u64> {
        size.checked_next_multiple_of(if size <= SMALL { ALIGNMENT } else { BLOCK })
    }

    /// An offset for `size` bytes, or `None` when the window has no room.
    pub fn allocate(&mut self, size: u64) -> Option<u64> {
        if size > SMALL {
            return self.allocate_blocks(size);
        }
        let size = Self::footprint(size)?;
        let recent = self.recent.iter().rev().copied().collect::<Vec<_>>();
        let at = recent.into_iter().find_map(|at| self.take_small(at, size));
        let at = at.or_else(|| self.shared.values_mut().find_map(|block| block.take_first(size)));
        if let Some(at) = at {
            return Some(self.taken(at, size));
        }
        let block = self.allocate_blocks(BLOCK)?;
        self.share(block);
        self.take_small(block, size)
    }

    /// Takes a part of a shared block, or of one that is free and shared from now on.
    fn take_small(&mut self, at: u64, size: u64) -> Option<u64> {
        let block = block_of(at);
        if at == block && self.blocks.take(block, BLOCK).is_some() {
            self.share(block);
        }
        self.shared.get_mut(&block)?.take(at, size)
    }

    fn share(&mut self, block: u64) {
        self.shared.insert(block, Spans::new(block..block + BLOCK));
    }

    /// Allocates whole blocks, whatever the size.
    pub fn allocate_blocks(&mut self, size: u64) -> Option<u64> {
        let length = size.checked_next_multiple_of(BLOCK)?;
        let blocks = &mut self.blocks;
        let freed = self.recent.iter().rev().filter(|at| at.is_multiple_of(BLOCK));
        let recent = freed.copied().find_map(|at| blocks.take(at, length));
        let at = recent.or_else(|| blocks.take_first(length))?;
        Some(self.taken(at, length))
    }

    pub fn free(&mut self, offset: u64, size: u64) {
        if size > SMALL {
            return self.free_blocks(offset, size);
        }
        let block = block_of(offset);
        let Some(spans) = self.shared.get_mut(&block) else {
            return;
        };
        spans.put(offset, size.next_multiple_of(ALIGNMENT));
        match spans.is_all(block, BLOCK) {
            true => {
                self.shared.remove(&block);
                self.free_blocks(block, BLOCK);
            }
            false => self.recent.push(offset),
        }
    }

    pub fn free_blocks(&mut self, offset: u64, size: u64) {
        let length = size.next_multiple_of(BLOCK);
        self.blocks.put(offset, length);
        self.taken(offset, length);
        self.recent.push(offset);
        self.freed.push(offset..offset + length);
    }

    /// Forgets what was freed where something else is now.
    fn taken(&mut self, at: u64, length: u64) -> u64 {
        self.recent.retain(|other| !(at..at + length).contains(other));
        at
    }
}

fn block_of(offset: u64) -> u64 {
    offset - offset % BLOCK
}

/// Free spans of offsets: start to length, neighbours merged.
#[derive(Debug)]
struct Spans(BTreeMap<u64, u64>);

impl Spans {
    fn new(all: Range<u64>) -> Self {
        Self(BTreeMap::from([(all.start, all.end - all.start)]))
    }

    fn is_all(&self, at: u64, length: u64) -> bool {
        self.0.get(&at) == Some(&length)
    }

    /// Takes `length` bytes at an offset, which it returns, if they are free.
    fn take(&mut self, at: u64, length: u64) -> Option<u64> {
        let (&start, &free) = self.0.range(..=at).next_back()?;
        if start + free < at + length {
            return None;
        }
        self.0.remove(&start);
        if start < at {
            self.0.insert(start, at - start);
        }
        if start + free > at + length {
            self.0.insert(at + length, start + free - at - length);
        }
        Some(at)
    }

    fn take_first(&mut self, length: u64) -> Option<u64> {
        let (&at, _) = self.0.iter().find(|&(_, &free)| free >= length)?;
        self.take(at, length)
    }

    fn put(&mut self, offset: u64, length: u64) {
        let (mut start, mut end) = (offset, offset + length);
        if let Some((&before, &length)) = self.0.range(..start).next_back()
            && before + length == start
        {
            self.0.remove(&before);
            start = before;
        }
        if let Some(length) = self.0.remove(&end) {
            end += length;
        }
        self.0.insert(start, end - start);
    }
}
