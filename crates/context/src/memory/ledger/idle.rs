//! Which idle block serves a request, and which go first when there are too many.
//!
//! Releases are numbered, and what is known of the device is one number: all work is complete that
//! could touch a block with this number or a lower one.

use super::{Found, Segment, capacity};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Idle {
    segment: Segment,
    /// The number of its release.
    released: u64,
}

/// Blocks by capacity, those of one capacity in the order of their release.
type ByCapacity = BTreeMap<u64, VecDeque<Idle>>;

/// Beyond so many capacities, those that have no blocks are forgotten.
const MOST_CAPACITIES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct IdleBlocks {
    /// Those that share their driver block with others never serve a request for one alone.
    packed: ByCapacity,
    alone: ByCapacity,
    bytes: u64,
    blocks: u64,
    last_release: u64,
    complete: u64,
}

impl IdleBlocks {
    /// Adds a released block, in exchange for those that exceed `limit` with it: the ones that were
    /// released longest ago, or the block itself when it is larger than the limit.
    pub(super) fn add(
        &mut self,
        address: u64,
        capacity: u64,
        is_alone: bool,
        limit: u64,
    ) -> Vec<Segment> {
        self.last_release += 1;
        let segment = Segment { address, capacity };
        if capacity > limit {
            return vec![segment];
        }
        let evicted = self.shrink_to(limit - capacity);
        self.bytes += capacity;
        self.blocks += 1;
        let sizes = if is_alone { &mut self.alone } else { &mut self.packed };
        if sizes.len() >= MOST_CAPACITIES && !sizes.contains_key(&capacity) {
            sizes.retain(|_, idles| !idles.is_empty());
        }
        sizes.entry(capacity).or_default().push_back(Idle { segment, released: self.last_release });
        evicted
    }

    /// The block that fits best: of the smallest capacity, and of that the one released last.
    pub(super) fn take(&mut self, capacity: u64, is_alone: bool) -> Found {
        let complete = self.complete;
        let sizes = if is_alone { &mut self.alone } else { &mut self.packed };
        let mut found = Found::Nothing;
        let fitting = sizes.range_mut(capacity..=capacity::largest_for(capacity));
        for idles in fitting.map(|(_, idles)| idles) {
            let ready = idles.partition_point(|idle| idle.released <= complete);
            if let Some(idle) = ready.checked_sub(1).and_then(|last| idles.remove(last)) {
                self.bytes -= idle.segment.capacity;
                self.blocks -= 1;
                return Found::Block { address: idle.segment.address };
            }
            if !idles.is_empty() {
                found = Found::Unsure;
            }
        }
        found
    }

    pub(super) fn last_release(&self) -> u64 {
        self.last_release
    }

    pub(super) fn note_complete(&mut self, up_to: u64) {
        self.complete = self.complete.max(up_to);
    }

    /// How much is idle: bytes and blocks.
    pub(super) fn total(&self) -> (u64, u64) {
        (self.bytes, self.blocks)
    }

    /// Takes out what exceeds so many bytes, that which was released longest ago first.
    pub(super) fn shrink_to(&mut self, bytes: u64) -> Vec<Segment> {
        let mut evicted = Vec::new();
        while self.bytes > bytes {
            let Some(idle) = self.remove_oldest() else { break };
            evicted.push(idle.segment);
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
        self.bytes -= oldest.segment.capacity;
        self.blocks -= 1;
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_without_blocks_do_not_pile_up() {
        let mut idle = IdleBlocks::default();
        for count in 1..10_000 {
            assert!(idle.add(count, count * capacity::BLOCK, true, u64::MAX).is_empty());
            idle.note_complete(idle.last_release());
            assert!(matches!(idle.take(count * capacity::BLOCK, true), Found::Block { .. }));
        }
        assert!(idle.alone.len() <= MOST_CAPACITIES && idle.total() == (0, 0));
    }
}
