//! Idle blocks: which one serves a request, and which ones are evicted first.
//!
//! Releases are numbered. One number describes the state of the device: all work that could touch a
//! block released with this number or a lower one is complete.

use super::{IdleLookup, Segment, capacity};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Idle {
    segment: Segment,
    /// The number of its release.
    released: u64,
}

/// Blocks by capacity, those of one capacity in the order of their release.
type ByCapacity = BTreeMap<u64, VecDeque<Idle>>;

/// Beyond this many capacities, those without blocks are forgotten.
const MAX_CAPACITIES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct IdleBlocks {
    /// Blocks that share a driver block with others never serve a request for one alone.
    packed: ByCapacity,
    alone: ByCapacity,
    bytes: u64,
    blocks: u64,
    last_release: u64,
    complete: u64,
}

impl IdleBlocks {
    /// Adds a released block and evicts those that then exceed `limit`: the least recently released
    /// ones, or the block itself if it is larger than the limit.
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
        if sizes.len() >= MAX_CAPACITIES && !sizes.contains_key(&capacity) {
            sizes.retain(|_, idles| !idles.is_empty());
        }
        sizes.entry(capacity).or_default().push_back(Idle { segment, released: self.last_release });
        evicted
    }

    /// The block that fits best: the most recently released one of the smallest capacity.
    pub(super) fn take(&mut self, capacity: u64, is_alone: bool) -> IdleLookup {
        let complete = self.complete;
        let sizes = if is_alone { &mut self.alone } else { &mut self.packed };
        let mut found = IdleLookup::Miss;
        let fitting = sizes.range_mut(capacity..=capacity::largest_for(capacity));
        for idles in fitting.map(|(_, idles)| idles) {
            let ready = idles.partition_point(|idle| idle.released <= complete);
            if let Some(idle) = ready.checked_sub(1).and_then(|last| idles.remove(last)) {
                self.bytes -= idle.segment.capacity;
                self.blocks -= 1;
                return IdleLookup::Hit { address: idle.segment.address };
            }
            if !idles.is_empty() {
                found = IdleLookup::InFlight;
            }
        }
        found
    }

    pub(super) fn last_release(&self) -> u64 {
        self.last_release
    }

    pub(super) fn mark_complete(&mut self, up_to: u64) {
        self.complete = self.complete.max(up_to);
    }

    /// How much is idle: bytes and blocks.
    pub(super) fn total(&self) -> (u64, u64) {
        (self.bytes, self.blocks)
    }

    /// Evicts blocks beyond `bytes`, least recently released first.
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
            idle.mark_complete(idle.last_release());
            assert!(matches!(idle.take(count * capacity::BLOCK, true), IdleLookup::Hit { .. }));
        }
        assert!(idle.alone.len() <= MAX_CAPACITIES && idle.total() == (0, 0));
    }
}
