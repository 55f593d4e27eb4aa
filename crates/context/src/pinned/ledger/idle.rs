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
    is_leaked: bool,
}

#[derive(Debug, Default)]
pub(super) struct IdleBlocks {
    /// By context and capacity, those of one capacity in the order of their release.  No list is
    /// empty.
    by_capacity: BTreeMap<(Home, u64), VecDeque<Idle>>,
    bytes: u64,
    blocks: u64,
    last_release: u64,
    complete: u64,
}

impl IdleBlocks {
    /// Adds a released block.
    pub(super) fn add(&mut self, segment: Segment, is_leaked: bool) {
        self.last_release += 1;
        let Segment { home, address, capacity } = segment;
        let idle = Idle { address, released: self.last_release, is_leaked };
        self.by_capacity.entry((home, capacity)).or_default().push_back(idle);
        self.bytes += capacity;
        self.blocks += 1;
    }

    /// The block that fits best: the most recently released one of the smallest capacity that no
    /// work can touch any more.
    pub(super) fn take(&mut self, home: Home, capacity: u64) -> IdleLookup {
        let complete = self.complete;
        let is_ready = |idle: &Idle| !idle.is_leaked || idle.released <= complete;
        let fitting = (home, capacity)..=(home, capacity::largest_for(capacity));
        let mut found = IdleLookup::Miss;
        for (key, idles) in self.by_capacity.range(fitting) {
            if let Some(at) = idles.iter().rposition(is_ready) {
                let (key, address) = (*key, idles[at].address);
                self.remove(key, at);
                return IdleLookup::Hit { address };
            }
            found = IdleLookup::InFlight;
        }
        found
    }

    /// Removes the block that was released longest ago, of those that `matches` accepts by their
    /// context and whether they have leaked.
    pub(super) fn remove_oldest(
        &mut self,
        matches: impl Fn(Home, bool) -> bool,
    ) -> Option<Segment> {
        let oldest_of = |(key, idles): (&(Home, u64), &VecDeque<Idle>)| {
            let at = idles.iter().position(|idle| matches(key.0, idle.is_leaked))?;
            Some((idles[at].released, *key, at))
        };
        let (_, key, at) = self.by_capacity.iter().filter_map(oldest_of).min()?;
        Some(self.remove(key, at))
    }

    /// Removes the block at an address.
    pub(super) fn remove_at(&mut self, home: Home, capacity: u64, address: u64) {
        let idles = self.by_capacity.get(&(home, capacity));
        let at = idles.and_then(|idles| idles.iter().position(|idle| idle.address == address));
        if let Some(at) = at {
            self.remove((home, capacity), at);
        }
    }

    fn remove(&mut self, key: (Home, u64), at: usize) -> Segment {
        let (home, capacity) = key;
        let idles = self.by_capacity.get_mut(&key).expect("a list that was found");
        let idle = idles.remove(at).expect("a block that was found");
        if idles.is_empty() {
            self.by_capacity.remove(&key);
        }
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
