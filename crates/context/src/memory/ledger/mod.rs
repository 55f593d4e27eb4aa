//! The ledger of a context's memory: one entry for each block, with its state, and the statistics.
//! It only keeps books: it calls no driver and takes no lock.
//!
//! A *segment* is memory that the driver has allocated; a *block* is the part of a segment that
//! serves an allocation.

mod blocks;
pub(crate) mod classes;
mod idle;
mod request;
mod sharing;

use super::stats::MemoryStats;
use blocks::{Blocks, State};
use request::MAX_SLACK;

pub(crate) use blocks::Segment;
pub use request::Placement;
pub(crate) use request::{Request, aligned};

/// Who may reach the memory of a block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// This process.
    Process,
    /// Other processes, as long as the block is in use.
    Lent,
    /// Other processes, without a time limit.
    Exported,
}

/// The result of looking for a ready block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleLookup {
    /// A block, in use from now on, and its segment.
    Hit { address: u64, segment: u64 },
    /// Perhaps, once work in flight is complete.
    InFlight,
    /// No block is large enough.
    Miss,
}

/// A context keeps at most what it needed at its peak, and one part in this many more.
const SURPLUS_DIVISOR: u64 = 5;
/// Below this, it keeps everything.
const MIN_KEPT: u64 = 64 << 20;

/// The blocks of one context.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    blocks: Blocks,
    /// What is wasted by blocks that are alone.
    slack: u64,
    /// The same of exported blocks, which do not come back.
    lost: u64,
    /// How many bytes may be cached, once a limit is set: in segments in which nothing is in use.
    limit: Option<u64>,
    stats: MemoryStats,
}

impl Ledger {
    /// Takes a ready block for a request.
    pub(crate) fn reuse(&mut self, request: &Request) -> IdleLookup {
        let Request { size, capacity, class, is_alone, is_cacheable } = *request;
        if !is_cacheable {
            return IdleLookup::Miss;
        }
        // While a program needs less than at its peak, there is room enough to split any segment.
        let needed = self.stats.allocated_bytes.saturating_add(size);
        let is_scarce = needed > self.stats.peak_allocated_bytes / 4 * 3;
        let largest_unused = if is_scarce { class.largest_unused(capacity) } else { u64::MAX };
        let found = match is_alone {
            true => {
                let wasted = MAX_SLACK.saturating_sub(self.slack + (capacity - size));
                self.blocks.best_vacant(class, capacity, capacity + wasted.min(capacity / 4))
            }
            false => {
                let found = self.blocks.best_fit(class, capacity, largest_unused);
                found.map(|address| (capacity, address))
            }
        };
        match found {
            Some((capacity, address)) => {
                let segment = self.take(address, &Request { capacity, ..*request });
                self.stats.cache_hits += 1;
                IdleLookup::Hit { address, segment }
            }
            None if self.blocks.idle().in_flight_bytes(class) >= capacity => IdleLookup::InFlight,
            None => IdleLookup::Miss,
        }
    }

    /// Counts a request that ready blocks did not serve.
    pub(crate) fn count_miss(&mut self, request: &Request) {
        self.stats.cache_misses += u64::from(request.is_cacheable);
    }

    /// Adds a segment that the driver has allocated for a request, and takes the request's block.
    pub(crate) fn add(&mut self, address: u64, capacity: u64, request: &Request) {
        let segment = Segment { address, capacity, class: request.class };
        self.blocks.add_segment(segment, request.is_cacheable);
        self.stats.driver_allocations += 1;
        self.count_reserved(capacity);
        self.take(address, request);
    }

    /// Takes a ready block for a request.  Returns its segment.
    fn take(&mut self, address: u64, request: &Request) -> u64 {
        let segment = self.blocks.take(address, request.capacity, request.size);
        self.count_allocated(request.size);
        if request.is_alone {
            self.slack += self.blocks.mark_alone(address);
        }
        segment
    }

    /// Divides the block at an address, which was requested for these sizes, into one for each.
    pub(crate) fn divide(&mut self, address: u64, sizes: &[u64]) {
        let Some(block) = self.blocks.get(address) else { return };
        self.stats.allocated_bytes -= block.size;
        self.stats.allocated_bytes += sizes.iter().sum::<u64>();
        self.blocks.divide(address, sizes.iter().map(|size| (*size, aligned(*size))));
    }

    fn count_reserved(&mut self, bytes: u64) {
        self.stats.reserved_bytes += bytes;
        self.stats.peak_reserved_bytes =
            self.stats.peak_reserved_bytes.max(self.stats.reserved_bytes);
    }

    fn count_allocated(&mut self, size: u64) {
        self.stats.allocated_bytes += size;
        self.stats.peak_allocated_bytes =
            self.stats.peak_allocated_bytes.max(self.stats.allocated_bytes);
    }

    /// Releases the block at an address.  If it is *exposed*, work that is still in flight may use
    /// it.  Returns the segment that the driver is to free, which the ledger no longer holds.  A
    /// block that a reset of the device has destroyed has no entry, and frees nothing.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn release(&mut self, address: u64, is_exposed: bool) -> Option<Segment> {
        let block = self.blocks.get(address)?;
        let State::InUse(access) = block.state else { return None };
        let (size, segment) = (block.size, block.segment);
        let block = self.blocks.block_mut(address);
        let slack = match std::mem::take(&mut block.is_alone) {
            true => block.capacity - size,
            false => 0,
        };
        self.slack -= slack;
        if access == Access::Exported {
            // Its memory stays allocated, and counts as reserved.
            block.state = State::Exported;
            self.lost += slack;
            return None;
        }
        block.has_residue = true;
        self.stats.allocated_bytes -= size;
        if access == Access::Lent {
            // No evidence covers the work of a process that the memory was lent to.
            self.blocks.close(address);
        }
        match is_exposed {
            true => self.blocks.return_in_flight(address),
            false => self.blocks.return_ready(address),
        }
        self.blocks.is_finished(segment).then(|| self.remove_segment(segment))
    }

    /// Removes a segment from the ledger.  Once the driver has freed it, another thread may get the
    /// same address.
    fn remove_segment(&mut self, address: u64) -> Segment {
        let segment = self.blocks.remove_segment(address);
        self.stats.driver_frees += 1;
        self.stats.reserved_bytes -= segment.capacity;
        segment
    }

    /// Restores a segment that the driver has failed to free.
    pub(crate) fn restore_segment(&mut self, segment: &Segment) {
        self.stats.driver_frees -= 1;
        self.count_reserved(segment.capacity);
    }

    /// Whether [`take_surplus`](Self::take_surplus) would return something if nothing were in
    /// flight.
    pub(crate) fn has_surplus(&self, needed: u64) -> bool {
        let has_idle = self.blocks.idle().oldest_vacant(0).is_some()
            || self.blocks.idle().all_in_flight_bytes() > 0;
        has_idle && self.is_surplus(needed)
    }

    fn is_surplus(&self, needed: u64) -> bool {
        let MemoryStats { allocated_bytes, peak_allocated_bytes, reserved_bytes, .. } = self.stats;
        let peak = peak_allocated_bytes.max(allocated_bytes.saturating_add(needed));
        let kept = peak.saturating_add(peak / SURPLUS_DIVISOR).max(MIN_KEPT);
        self.exceeds_limit() || needed > 0 && reserved_bytes.saturating_add(needed) > kept
    }

    /// Whether more is cached than the limit allows.
    pub(crate) fn exceeds_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.blocks.unused_total().0 > limit)
    }

    /// Whether work in flight may still use more than the limit.  To wait for it then is better
    /// than to take ever more memory.
    pub(crate) fn has_to_wait(&self) -> bool {
        self.limit.is_some_and(|limit| self.blocks.idle().all_in_flight_bytes() > limit)
    }

    /// Whether work in flight may still use released memory.
    pub(crate) fn has_in_flight(&self) -> bool {
        self.blocks.idle().all_in_flight_bytes() > 0
    }

    /// Removes the segments that have been vacant for longest and are not worth keeping: those
    /// beyond the limit, and if the driver is to allocate `needed` bytes, those beyond what the
    /// context needed at its peak.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn take_surplus(&mut self, needed: u64) -> Vec<Segment> {
        let mut surplus = Vec::new();
        // What is too large to be kept at all displaces nothing else.
        if let Some(newest) = self.blocks.idle().newest_vacant()
            && self.limit.is_some_and(|limit| newest.1 > limit)
        {
            surplus.push(self.remove_segment(newest.0));
        }
        while self.is_surplus(needed)
            && let Some(oldest) = self.blocks.idle().oldest_vacant(0)
        {
            surplus.push(self.remove_segment(oldest));
        }
        surplus
    }

    /// The address and size of the block in use that contains an address.  The driver reserved its
    /// memory from `reserved_from` on.
    pub(crate) fn block_at(&self, address: u64, reserved_from: u64) -> Option<(u64, u64)> {
        let (start, block) = self.blocks.last_in(reserved_from..=address)?;
        matches!(block.state, State::InUse(_) | State::Exported).then_some((start, block.size))
    }

    /// Whether an address lies in released memory.
    pub(crate) fn is_idle(&self, address: u64) -> bool {
        let block = self.blocks.containing(address);
        block.is_some_and(|(_, block)| block.state.is_idle() || block.state == State::Wiping)
    }

    /// How many bytes may be cached, if a limit is set.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Sets how many bytes may be cached.  Returns the segments that exceed it.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn set_limit(&mut self, bytes: u64) -> Vec<Segment> {
        self.limit = Some(bytes);
        self.remove_unused(bytes)
    }

    /// Removes all segments in which nothing is in use.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        self.remove_unused(0)
    }

    /// Removes segments in which nothing is in use until the rest is within the limit.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn remove_beyond_limit(&mut self) -> Vec<Segment> {
        self.limit.map_or_else(Vec::new, |limit| self.remove_unused(limit))
    }

    /// Removes segments in which nothing is in use until at most `bytes` are left of them.  The driver frees
    /// them once it has completed all work, so some may be in flight.
    fn remove_unused(&mut self, bytes: u64) -> Vec<Segment> {
        let mut removed = Vec::new();
        for segment in self.blocks.unused() {
            if self.blocks.unused_total().0 <= bytes {
                break;
            }
            removed.push(self.remove_segment(segment));
        }
        removed
    }

    /// Forgets all blocks, which a reset of the device has destroyed.
    pub(crate) fn abandon(&mut self) {
        self.blocks = Blocks::default();
        (self.slack, self.lost) = (0, 0);
        self.limit = Some(0);
    }

    /// The number of the last release of a block that was exposed.
    pub(crate) fn last_release(&self) -> u64 {
        self.blocks.idle().last_release()
    }

    /// Records that all work that could use memory released up to that number is complete.
    pub(crate) fn mark_complete(&mut self, up_to: u64) {
        self.blocks.mark_complete(up_to);
    }

    pub(crate) fn count_retry(&mut self) {
        self.stats.out_of_memory_retries += 1;
    }

    /// The statistics.
    pub(crate) fn stats(&self) -> MemoryStats {
        let (cached_bytes, cached_blocks) = self.blocks.unused_total();
        let cache_limit = self.limit.unwrap_or(0);
        MemoryStats { cached_bytes, cached_blocks, cache_limit, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
