//! Surplus memory, which goes back to the driver.

use super::blocks::Segment;
use super::entries::Ledger;

/// A context keeps at most what it needed at its peak, and three parts in this many more.
const SURPLUS_DIVISOR: u64 = 13;
/// Below this, it keeps everything.
const MIN_KEPT: u64 = 64 << 20;
/// It keeps the vacant segments of small and medium blocks if they hold at most one part in this many
/// of what it needed at its peak.
const SMALLER_DIVISOR: u64 = 32;
/// An allocation has the driver free no more segments than this, unless they exceed the limit: the next
/// ones go on.
const MAX_AT_ONCE: usize = 16;

impl Ledger {
    /// Whether [`take_surplus`](Self::take_surplus) would return something if nothing were in
    /// flight.
    pub(crate) fn has_surplus(&self, needed: u64) -> bool {
        let has_idle = self.surplus_segment(needed).is_some() || self.index.in_flight_bytes() > 0;
        has_idle && self.is_surplus(needed)
    }

    fn is_surplus(&self, needed: u64) -> bool {
        let peak = self.peak_with(needed);
        let kept = peak.saturating_add(peak / SURPLUS_DIVISOR * 3).max(MIN_KEPT);
        self.exceeds_limit()
            || needed > 0 && self.account.stats.reserved_bytes.saturating_add(needed) > kept
    }

    /// The vacant segment that is worth least.
    fn surplus_segment(&self, needed: u64) -> Option<u64> {
        let kept = match self.exceeds_limit() {
            true => 0,
            false => (self.peak_with(needed) / SMALLER_DIVISOR).max(MIN_KEPT),
        };
        self.index.oldest_vacant(kept)
    }

    pub(crate) fn exceeds_limit(&self) -> bool {
        match self.caches_nothing {
            true => self.segments.values().any(Segment::is_unused),
            false => self.account.stats.cached_bytes > self.allowance(),
        }
    }

    /// Whether work in flight may still use more than the limit.  To wait for it then is better
    /// than to take ever more memory.
    pub(crate) fn has_to_wait(&self) -> bool {
        self.index.in_flight_bytes() > self.allowance()
    }

    /// Removes the segments that have been vacant for longest and are not worth keeping: those
    /// beyond the limit, and if the driver is to allocate `needed` bytes, some of those beyond what
    /// the context needed at its peak.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn take_surplus(&mut self, needed: u64) -> Vec<Segment> {
        let mut surplus = Vec::new();
        // A segment that is too large to be cached at all displaces nothing else.
        if let Some(newest) = self.index.newest_vacant()
            && self.segments[&newest].capacity > self.allowance()
        {
            surplus.push(self.remove_segment(newest));
        }
        while self.is_surplus(needed)
            && (surplus.len() < MAX_AT_ONCE || self.exceeds_limit())
            && let Some(segment) = self.surplus_segment(needed)
        {
            surplus.push(self.remove_segment(segment));
        }
        surplus
    }

    /// Removes all segments in which nothing is in use, and forgets what was needed before.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        self.account.peak = self.account.stats.allocated_bytes;
        let mut removed = self.take_finished();
        removed.extend(self.remove_unused(0));
        removed
    }

    /// Removes segments in which nothing is in use until the rest is within the limit.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn remove_beyond_limit(&mut self) -> Vec<Segment> {
        self.remove_unused(self.allowance())
    }

    /// Removes segments in which nothing is in use until at most `bytes` are left of them.  The driver
    /// frees them once it has completed all work, so some may be in flight.
    fn remove_unused(&mut self, bytes: u64) -> Vec<Segment> {
        let unused = self.segments.values().filter(|it| it.is_unused()).map(|it| it.address);
        // Those first that have nothing in flight.
        let unused: Vec<_> = self.index.vacant().chain(unused).collect();
        let mut removed = Vec::new();
        for address in unused {
            if self.account.stats.cached_bytes <= bytes {
                break;
            }
            if self.segments.contains_key(&address) {
                removed.push(self.remove_segment(address));
            }
        }
        removed
    }
}
