//! The ledger of a pool: one entry for each block, with its state, and the statistics.  It calls no
//! driver and takes no lock.

mod blocks;
mod classes;
mod idle;
mod request;
mod sharing;
mod slack;
mod surplus;

use super::stats::MemoryStats;
use blocks::{Blocks, State};
use classes::Class;
use slack::Slack;

pub(crate) use blocks::Segment;
pub(crate) use classes::{ALIGNMENT, MIN_LARGE, SEGMENT};
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
pub(crate) enum Lookup {
    /// A block, in use from now on, and its segment.
    Hit { address: u64, segment: u64 },
    /// Perhaps, once work in flight is complete.
    InFlight,
    /// No block is large enough.
    Miss,
}

/// While memory is scarce, a vacant segment is split for a large block as long as what is left over, with
/// what is ready in other segments beside blocks in use, is at most one part in this many of what the
/// context needed at its peak.
const PARTS_DIVISOR: u64 = 12;

/// The blocks of one pool.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    blocks: Blocks,
    slack: Slack,
    /// How many bytes may be cached, once a limit is set: in segments in which nothing is in use.
    limit: Option<u64>,
    /// How many bytes other pools cache that share the limit.
    in_other_pools: u64,
    /// Released memory goes back to the driver, whatever the limit.
    caches_nothing: bool,
    /// Blocks share segments even where nothing may be cached.
    always_shares: bool,
    /// The most that was in use since the cache was emptied last: what the program is known to need.
    peak: u64,
    stats: MemoryStats,
}

impl Ledger {
    /// Takes a ready block for a request.
    pub(crate) fn reuse(&mut self, request: &Request) -> Lookup {
        let Request { size, capacity, class, alone, is_alone, is_cacheable } = *request;
        if !is_cacheable {
            return Lookup::Miss;
        }
        let vacant = alone.and_then(|alone| {
            let room = self.slack.room().checked_sub(alone - size)?;
            self.blocks.best_vacant(class, alone, alone + room.min(alone / 4))
        });
        let found = match vacant {
            Some((capacity, address)) => {
                Some((address, Request { capacity, is_alone: true, ..*request }))
            }
            None if is_alone => None,
            None => {
                let largest_unused = self.largest_unused(request);
                let found = self.blocks.best_fit(class, capacity, largest_unused);
                found.map(|address| (address, *request))
            }
        };
        match found {
            Some((address, request)) => {
                let segment = self.take(address, &request);
                self.stats.cache_hits += 1;
                Lookup::Hit { address, segment }
            }
            None if self.blocks.idle().in_flight_bytes(class) >= capacity => Lookup::InFlight,
            None => Lookup::Miss,
        }
    }

    /// The largest unused segment that may serve a request.
    fn largest_unused(&self, request: &Request) -> u64 {
        let Request { size, capacity, class, .. } = *request;
        let (peak, needed) =
            (self.peak_with(size), self.stats.allocated_bytes.saturating_add(size));
        // While a program needs less than at its peak, there is room enough to split any segment.
        if class != Class::Large || needed <= peak / 4 * 3 {
            return u64::MAX;
        }
        let in_parts = self.blocks.idle().ready_in_parts(class);
        let room = (peak / PARTS_DIVISOR).saturating_sub(in_parts);
        classes::largest_split(capacity, room)
    }

    /// The most that the context needs, as far as is known, if it is to have `more` bytes.
    fn peak_with(&self, more: u64) -> u64 {
        self.peak.max(self.stats.allocated_bytes.saturating_add(more))
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
        self.stats.count_reserved(capacity);
        self.take(address, request);
    }

    /// Takes a ready block for a request.  Returns its segment.
    fn take(&mut self, address: u64, request: &Request) -> u64 {
        let segment = self.blocks.take(address, request.capacity, request.size);
        self.count_allocated(request.size);
        if request.is_alone {
            self.slack.add(self.blocks.mark_alone(address));
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

    /// Forgets the highest values that the statistics show, but not what decides what is kept.
    pub(crate) fn reset_peaks(&mut self) {
        self.stats.reset_peaks();
    }

    fn count_allocated(&mut self, size: u64) {
        self.stats.count_allocated(size);
        self.peak = self.peak.max(self.stats.allocated_bytes);
    }

    /// Releases the block at an address.  If it is *exposed*, work that is still in flight may use
    /// it.  Returns the segment that the driver is to free, which the ledger no longer holds.  A
    /// block that a reset of the device has destroyed has no entry, and frees nothing.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn release(&mut self, address: u64, is_exposed: bool) -> Option<Segment> {
        let block = self.blocks.get_mut(address)?;
        let State::InUse(access) = block.state else { return None };
        let (size, segment) = (block.size, block.segment);
        let slack = match std::mem::take(&mut block.is_alone) {
            true => block.capacity - size,
            false => 0,
        };
        if access == Access::Exported {
            // Its memory stays allocated, and counts as reserved.
            block.state = State::Exported;
            self.slack.lose(slack);
            return None;
        }
        block.has_residue = true;
        self.slack.remove(slack);
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
        self.stats.count_reserved(segment.capacity);
    }

    /// Whether work in flight may still use released memory.
    pub(crate) fn has_in_flight(&self) -> bool {
        self.blocks.idle().all_in_flight_bytes() > 0
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

    /// The start of the block that contains an address.
    pub(crate) fn start_of(&self, address: u64) -> Option<u64> {
        self.blocks.containing(address).map(|(start, _)| start)
    }

    /// Resizes the block in use at an address where it is.  If it shrinks, work in flight may still use
    /// the rest.  Returns false if there is no room behind it, or if its segment is for blocks of another
    /// class of sizes.
    pub(crate) fn resize(&mut self, address: u64, size: u64) -> bool {
        let Some(block) = self.blocks.get(address) else { return false };
        let old_size = block.size;
        if !self.blocks.resize(address, size) {
            return false;
        }
        self.stats.allocated_bytes -= old_size;
        self.count_allocated(size);
        true
    }

    /// Lets blocks share segments even where nothing may be cached: for many small allocations.
    pub(crate) fn sharing_always() -> Self {
        Self { always_shares: true, ..Self::default() }
    }

    /// Takes the limit that it shares with other pools, which cache `in_other_pools` bytes.
    pub(crate) fn share_limit(&mut self, limit: u64, in_other_pools: u64) {
        (self.limit, self.in_other_pools) = (Some(limit), in_other_pools);
    }

    /// Caches nothing from now on.
    pub(crate) fn cache_nothing(&mut self) {
        self.caches_nothing = true;
    }

    /// How many bytes may be cached here, if a limit is set.
    fn allowance(&self) -> Option<u64> {
        let limit = self.limit.map(|limit| limit.saturating_sub(self.in_other_pools));
        if self.caches_nothing { limit.map(|_| 0) } else { limit }
    }

    /// How many bytes may be cached, if a limit is set.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Sets how many bytes may be cached.
    pub(crate) fn set_limit(&mut self, bytes: u64) {
        self.limit = Some(bytes);
    }

    /// Forgets all blocks, which a reset of the device has destroyed.  If the memory outlives the context, blocks in
    /// use stay; the other segments are returned.
    #[must_use = "what is returned must be freed"]
    pub(crate) fn abandon(&mut self, keeps_memory: bool) -> Vec<Segment> {
        self.caches_nothing = true;
        if keeps_memory {
            let unused = self.remove_unused(0);
            self.blocks.close_all();
            return unused;
        }
        (self.blocks, self.slack) = (Blocks::default(), Slack::default());
        (self.stats.allocated_bytes, self.stats.reserved_bytes) = (0, 0);
        Vec::new()
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
