//! Allocates offsets of a device's address window.
//!
//! The window is divided into blocks of 2 MiB.  Small allocations are packed into a block,
//! larger ones take whole blocks.  A cursor runs round the window, so that a freed address is
//! reused only after everything else that is free.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The size and alignment to which a large allocation is rounded up.
pub const BLOCK: u64 = 2 << 20;
/// The largest allocation that shares a block.
pub const SMALL: u64 = 1 << 20;
pub const ALIGNMENT: u64 = 512;

/// The allocator of one window; offsets and sizes are in bytes.
#[derive(Debug)]
pub struct Allocator {
    /// Free blocks: start to length, neighbours merged.
    free: BTreeMap<u64, u64>,
    cursor: u64,
    /// The block from which small allocations are cut, and where the next one starts.
    current: Option<(u64, u64)>,
    /// Live small allocations of each shared block.
    shared: HashMap<u64, u32>,
    /// Blocks that were freed, to be taken out.  Their contents must be discarded before anything else is
    /// allocated.
    pub freed: Vec<Range<u64>>,
}

impl Allocator {
    /// An allocator of the offsets in `window`, whose ends are multiples of [`BLOCK`].
    pub fn new(window: Range<u64>) -> Self {
        Self {
            cursor: window.start,
            free: BTreeMap::from([(window.start, window.end - window.start)]),
            current: None,
            shared: HashMap::new(),
            freed: Vec::new(),
        }
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
        let (block, at) = match self.current {
            Some((block, next)) if next + size <= block + BLOCK => (block, next),
            _ => {
                let block = self.allocate_blocks(BLOCK)?;
                self.leave_current();
                (block, block)
            }
        };
        self.current = Some((block, at + size));
        *self.shared.entry(block).or_default() += 1;
        Some(at)
    }

    /// Allocates whole blocks, whatever the size.
    pub fn allocate_blocks(&mut self, size: u64) -> Option<u64> {
        let length = size.checked_next_multiple_of(BLOCK)?;
        let at = self.fit(self.cursor, length).or_else(|| self.fit(0, length))?;
        self.carve(at, length);
        self.cursor = at + length;
        Some(at)
    }

    pub fn free(&mut self, offset: u64, size: u64) {
        if size > SMALL {
            return self.free_blocks(offset, size);
        }
        let block = offset - offset % BLOCK;
        let Some(live) = self.shared.get_mut(&block) else {
            return;
        };
        *live -= 1;
        let is_current = self.current.is_some_and(|(current, _)| current == block);
        if *live == 0 && !is_current {
            self.shared.remove(&block);
            self.free_blocks(block, BLOCK);
        }
    }

    pub fn free_blocks(&mut self, offset: u64, size: u64) {
        let (mut start, mut end) = (offset, offset + size.next_multiple_of(BLOCK));
        self.freed.push(start..end);
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        self.free.insert(start, end - start);
    }

    /// Cuts nothing more from the current block, which is freed at once when it is empty.
    fn leave_current(&mut self) {
        if let Some((block, _)) = self.current.take()
            && self.shared.get(&block) == Some(&0)
        {
            self.shared.remove(&block);
            self.free_blocks(block, BLOCK);
        }
    }

    /// The first offset at or after `from` with `length` free bytes.
    fn fit(&self, from: u64, length: u64) -> Option<u64> {
        if let Some((&start, &free)) = self.free.range(..from).next_back()
            && start + free >= from + length
        {
            return Some(from);
        }
        let mut later = self.free.range(from..);
        later.find(|&(_, &free)| free >= length).map(|(&at, _)| at)
    }

    fn carve(&mut self, at: u64, length: u64) {
        let Some((&start, &free)) = self.free.range(..=at).next_back() else {
            return;
        };
        self.free.remove(&start);
        if start < at {
            self.free.insert(start, at - start);
        }
        if start + free > at + length {
            self.free.insert(at + length, start + free - at - length);
        }
    }
}
