//! Idle blocks: which one serves a request, and which ones are evicted first.
//!
//! Releases are numbered.  One number describes the process: all work that could touch a block that
//! was released with this number or a lower one is complete.

use super::{Home, IdleLookup, Segment, capacity};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Idle {
    address: u64,
    /// The number of its release.
    released: u64,
}

/// What the blocks of one list have in common.  Their order is that in which they serve a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    home: Home,
    capacity: u64,
    is_exposed: bool,
}

#[derive(Debug, Default)]
pub(super) struct IdleBlocks {
    /// Those of one kind in the order of their release.  No list is empty.
    by_kind: BTreeMap<Kind, VecDeque<Idle>>,
    bytes: u64,
    blocks: u64,
    last_release: u64,
    complete: u64,
}

impl IdleBlocks {
    /// Adds a released block.
    pub(super) fn add(&mut self, segment: Segment, is_exposed: bool) {
        self.last_release += 1;
        let Segment { home, address, capacity } = segment;
        let idles = self.by_kind.entry(Kind { home, capacity, is_exposed }).or_default();
        idles.push_back(Idle { address, released: self.last_release });
        self.bytes += capacity;
        self.blocks += 1;
    }

    /// The block that fits best, of those that no work can touch any more: the most recently
    /// released one of the smallest capacity, one a private one if there is any.
    pub(super) fn take(&mut self, home: Home, capacity: u64) -> IdleLookup {
        let first = Kind { home, capacity, is_exposed: false };
        let last = Kind { home, capacity: capacity::largest_for(capacity), is_exposed: true };
        let mut found = IdleLookup::Miss;
        for (kind, idles) in self.by_kind.range(first..=last) {
            let ready = match kind.is_exposed {
                true => idles.partition_point(|idle| idle.released <= self.complete),
                false => idles.len(),
            };
            if let Some(at) = ready.checked_sub(1) {
                let kind = *kind;
                let Segment { address, capacity, .. } = self.remove(kind, at);
                return IdleLookup::Hit { address, capacity };
            }
            found = IdleLookup::InFlight;
        }
        found
    }

    /// Removes the block that was released longest ago, of all or of the exposed ones.
    pub(super) fn remove_oldest(&mut self, only_exposed: bool) -> Option<Segment> {
        let lists = self.by_kind.iter().filter(|(kind, _)| kind.is_exposed || !only_exposed);
        let fronts = lists.filter_map(|(kind, idles)| Some((idles.front()?.released, *kind)));
        let (_, kind) = fronts.min()?;
        Some(self.remove(kind, 0))
    }

    /// Removes all blocks of a home.
    pub(super) fn remove_all_of(&mut self, home: Home) -> Vec<Segment> {
        let kinds: Vec<Kind> =
            self.by_kind.keys().filter(|kind| kind.home == home).copied().collect();
        let mut removed = Vec::new();
        for kind in kinds {
            while self.by_kind.contains_key(&kind) {
                removed.push(self.remove(kind, 0));
            }
        }
        removed
    }

    /// Removes the block at an address.
    pub(super) fn remove_at(&mut self, home: Home, capacity: u64, address: u64) {
        for is_exposed in [false, true] {
            let kind = Kind { home, capacity, is_exposed };
            let idles = self.by_kind.get(&kind);
            let at = idles.and_then(|idles| idles.iter().position(|idle| idle.address == address));
            if let Some(at) = at {
                self.remove(kind, at);
            }
        }
    }

    fn remove(&mut self, kind: Kind, at: usize) -> Segment {
        let idles = self.by_kind.get_mut(&kind).expect("a list that was found");
        let idle = idles.remove(at).expect("a block that was found");
        if idles.is_empty() {
            self.by_kind.remove(&kind);
        }
        let Kind { home, capacity, .. } = kind;
        self.bytes -= capacity;
        self.blocks -= 1;
        Segment { home, address: idle.address, capacity }
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
}
