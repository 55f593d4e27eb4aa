//! Which released blocks are kept, which of them serves a request, and which go first.
//!
//! Bookkeeping alone: the driver is called by others.  Releases are numbered, and what is known of
//! the device is one number: all work that could touch a block with this number or a lower one is
//! over.

use super::class;
use std::collections::{BTreeMap, VecDeque};

/// A block of the driver that nobody uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Idle {
    pub(crate) address: u64,
    pub(crate) capacity: u64,
    /// The number of its release.
    released: u64,
}

/// What a request finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A block, which is the caller's now.
    Block(Idle),
    /// Blocks that would do, if only their work were known to be over.
    Unsure,
    /// No block of about that size.
    Nothing,
}

/// Blocks by capacity, those of one capacity in the order of their release.
type Shelf = BTreeMap<u64, VecDeque<Idle>>;

/// Beyond so many capacities, those that have no blocks are forgotten.
const MOST_CAPACITIES: usize = 256;

/// The released blocks of a context.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Those that share their driver block with others never serve who wants one alone.
    packed: Shelf,
    alone: Shelf,
    limit: u64,
    bytes: u64,
    blocks: u64,
    released: u64,
    over: u64,
}

impl Pool {
    /// Keeps a released block, in exchange for those that have to go: the ones that were released
    /// longest ago, or the block itself when it is larger than all that may be kept.
    pub(crate) fn offer(&mut self, address: u64, capacity: u64, is_alone: bool) -> Vec<Idle> {
        self.released += 1;
        let idle = Idle { address, capacity, released: self.released };
        if capacity > self.limit {
            return vec![idle];
        }
        let evicted = self.shrink_to(self.limit - capacity);
        self.bytes += capacity;
        self.blocks += 1;
        let shelf = if is_alone { &mut self.alone } else { &mut self.packed };
        if shelf.len() >= MOST_CAPACITIES && !shelf.contains_key(&capacity) {
            shelf.retain(|_, idles| !idles.is_empty());
        }
        shelf.entry(capacity).or_default().push_back(idle);
        evicted
    }

    /// The block that fits best: of the smallest capacity, and of that the one released last.
    pub(crate) fn take(&mut self, capacity: u64, is_alone: bool) -> Found {
        let over = self.over;
        let shelf = if is_alone { &mut self.alone } else { &mut self.packed };
        let mut found = Found::Nothing;
        for idles in shelf.range_mut(capacity..=class::largest_for(capacity)).map(|(_, it)| it) {
            let ready = idles.partition_point(|idle| idle.released <= over);
            if let Some(idle) = ready.checked_sub(1).and_then(|last| idles.remove(last)) {
                self.bytes -= idle.capacity;
                self.blocks -= 1;
                return Found::Block(idle);
            }
            if !idles.is_empty() {
                found = Found::Unsure;
            }
        }
        found
    }

    /// The number of the last release.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// Takes note that the work of all blocks up to that number is over.
    pub(crate) fn found_over(&mut self, up_to: u64) {
        self.over = self.over.max(up_to);
    }

    /// Sets how many bytes may be kept, and gives back the blocks that exceed it.
    pub(crate) fn set_limit(&mut self, bytes: u64) -> Vec<Idle> {
        self.limit = bytes;
        self.shrink_to(bytes)
    }

    /// Gives all blocks back.
    pub(crate) fn clear(&mut self) -> Vec<Idle> {
        self.shrink_to(0)
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// How much is kept: bytes and blocks.
    pub(crate) fn kept(&self) -> (u64, u64) {
        (self.bytes, self.blocks)
    }

    fn shrink_to(&mut self, bytes: u64) -> Vec<Idle> {
        let mut evicted = Vec::new();
        while self.bytes > bytes {
            let Some(idle) = self.remove_oldest() else { break };
            evicted.push(idle);
        }
        evicted
    }

    fn remove_oldest(&mut self) -> Option<Idle> {
        let idles = self
            .packed
            .values_mut()
            .chain(self.alone.values_mut())
            .filter(|idles| !idles.is_empty())
            .min_by_key(|idles| idles.front().map(|idle| idle.released))?;
        let oldest = idles.pop_front()?;
        self.bytes -= oldest.capacity;
        self.blocks -= 1;
        Some(oldest)
    }
}

#[cfg(test)]
mod tests;
