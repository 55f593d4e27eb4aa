//! The ledger of pinned memory: one entry for each block, with its state, and the statistics.
//! It only keeps books: it calls no driver and takes no lock.
//!
//! A *segment* is memory that the driver has allocated; each holds one block.

mod capacity;
mod idle;

use super::stats::PinnedMemoryStats;
use idle::IdleBlocks;
use std::collections::BTreeMap;

/// What a segment consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The driver's own pinned memory, which goes with its context.
    Driver,
    /// Ordinary memory, which the driver has pinned: without its context it is ordinary again.
    Pages,
}

/// Where a block was allocated: only requests for the same get it when it is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Home {
    /// The identity of the context.
    pub(crate) context: (usize, u64),
    pub(crate) source: Source,
}

/// An allocation's request, once its capacity is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) home: Home,
    /// In bytes, as asked for.
    pub(crate) size: u64,
    /// The bytes that the driver is asked for.
    pub(crate) capacity: u64,
    /// Whether the block may be cached.
    is_cacheable: bool,
}

/// Memory that the driver has allocated, to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) home: Home,
    pub(crate) address: u64,
    pub(crate) capacity: u64,
}

/// The result of looking for an idle block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleLookup {
    /// A block, in use from now on.
    Hit { address: u64, capacity: u64 },
    /// Only blocks that work in flight may still touch.
    InFlight,
    /// No block of about that size.
    Miss,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    request: Request,
    is_idle: bool,
}

/// The blocks of all contexts.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By address, idle ones too.
    blocks: BTreeMap<u64, Entry>,
    idle: IdleBlocks,
    /// How many bytes may be idle, once a limit is set.
    limit: Option<u64>,
    /// Whether nothing can show that the work on exposed blocks is complete, so that they are not
    /// cached.
    lacks_evidence: bool,
    stats: PinnedMemoryStats,
}

impl Ledger {
    /// Decides the request for an allocation of `size` bytes in a context that may cache memory or
    /// not.
    pub(crate) fn request(&self, home: Home, size: u64, may_cache: bool) -> Request {
        let rounded = capacity::of(size);
        let is_cacheable = may_cache && self.limit.is_some_and(|limit| rounded <= limit);
        Request { home, size, capacity: if is_cacheable { rounded } else { size }, is_cacheable }
    }

    /// Takes an idle block for a request.
    pub(crate) fn reuse(&mut self, request: &Request) -> IdleLookup {
        if !request.is_cacheable {
            return IdleLookup::Miss;
        }
        let found = self.idle.take(request.home, request.capacity);
        if let IdleLookup::Hit { address, .. } = found {
            let entry = self.blocks.get_mut(&address).expect("an idle block has an entry");
            let capacity = entry.request.capacity;
            *entry = Entry { request: Request { capacity, ..*request }, is_idle: false };
            self.stats.cache_hits += 1;
            self.count_allocated(request.size);
        }
        found
    }

    /// Counts a request that idle blocks did not serve.
    pub(crate) fn count_miss(&mut self, request: &Request) {
        self.stats.cache_misses += u64::from(request.is_cacheable);
    }

    /// Adds a block that the driver has allocated for a request.
    pub(crate) fn add(&mut self, address: u64, request: Request) {
        self.forget_overlapped(address, request.capacity);
        self.blocks.insert(address, Entry { request, is_idle: false });
        self.stats.driver_allocations += 1;
        self.count_reserved(request.capacity);
        self.count_allocated(request.size);
    }

    /// Forgets the blocks in a range that the driver has just allocated.  They went with a context
    /// that nobody has yet found to be gone.
    fn forget_overlapped(&mut self, address: u64, capacity: u64) {
        let before = self.blocks.range(..address).next_back();
        let reaching = before.filter(|(start, entry)| entry.contains(**start, address));
        let within = self.blocks.range(address..address.saturating_add(capacity));
        let lost: Vec<u64> = reaching.into_iter().chain(within).map(|(start, _)| *start).collect();
        lost.into_iter().for_each(|start| self.forget(start));
    }

    fn forget(&mut self, address: u64) {
        let Some(Entry { request, is_idle }) = self.blocks.remove(&address) else { return };
        self.stats.reserved_bytes -= request.capacity;
        if is_idle {
            self.idle.remove_at(request.home, request.capacity, address);
        } else {
            self.stats.allocated_bytes -= request.size;
        }
    }

    fn count_reserved(&mut self, bytes: u64) {
        self.stats.reserved_bytes += bytes;
        self.stats.peak_reserved_bytes =
            self.stats.peak_reserved_bytes.max(self.stats.reserved_bytes);
    }

    /// Forgets the highest values that the statistics show.
    pub(crate) fn reset_peaks(&mut self) {
        self.stats.peak_reserved_bytes = self.stats.reserved_bytes;
        self.stats.peak_allocated_bytes = self.stats.allocated_bytes;
    }

    fn count_allocated(&mut self, size: u64) {
        self.stats.allocated_bytes += size;
        self.stats.peak_allocated_bytes =
            self.stats.peak_allocated_bytes.max(self.stats.allocated_bytes);
    }

    /// Releases the block at an address.  Returns the segments that the driver is to free, which
    /// the ledger no longer holds.  A block that went with its context frees nothing.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn release(&mut self, home: Home, address: u64, is_exposed: bool) -> Vec<Segment> {
        let entry = self.blocks.get_mut(&address);
        let Some(entry) = entry.filter(|entry| !entry.is_idle && entry.request.home == home) else {
            return Vec::new();
        };
        let Request { size, capacity, is_cacheable, .. } = entry.request;
        entry.is_idle = true;
        self.stats.allocated_bytes -= size;
        let segment = Segment { home, address, capacity };
        let limit = self.limit.unwrap_or(0);
        if !is_cacheable || capacity > limit || is_exposed && self.lacks_evidence {
            return self.remove_segments(vec![segment]);
        }
        let evicted = self.shrink_to(limit - capacity);
        self.idle.add(segment, is_exposed);
        evicted
    }

    fn shrink_to(&mut self, bytes: u64) -> Vec<Segment> {
        let mut evicted = Vec::new();
        while self.idle.total().0 > bytes {
            evicted.extend(self.idle.remove_oldest(false));
        }
        self.remove_segments(evicted)
    }

    /// Removes segments from the ledger.  Once the driver has freed them, another thread may get
    /// the same addresses.
    fn remove_segments(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        for segment in &segments {
            self.blocks.remove(&segment.address);
            self.stats.driver_frees += 1;
            self.stats.reserved_bytes -= segment.capacity;
        }
        segments
    }

    /// Counts a segment that the driver has failed to free as reserved again.
    pub(crate) fn restore_segment(&mut self, segment: &Segment) {
        self.stats.driver_frees -= 1;
        self.count_reserved(segment.capacity);
    }

    /// The context of the block in use that contains an address, its start and its requested size.
    pub(crate) fn block_at(&self, address: u64) -> Option<(Home, u64, u64)> {
        let (start, entry) = self.containing(address)?;
        (!entry.is_idle).then_some((entry.request.home, start, entry.request.size))
    }

    /// The context of the idle block that contains an address.
    pub(crate) fn idle_at(&self, address: u64) -> Option<Home> {
        let (_, entry) = self.containing(address)?;
        entry.is_idle.then_some(entry.request.home)
    }

    fn containing(&self, address: u64) -> Option<(u64, &Entry)> {
        let (start, entry) = self.blocks.range(..=address).next_back()?;
        entry.contains(*start, address).then_some((*start, entry))
    }

    /// How many bytes may be idle, if a limit is set.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Sets how many bytes may be idle.  Returns the segments that exceed it.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn set_limit(&mut self, bytes: u64) -> Vec<Segment> {
        self.limit = Some(bytes);
        self.shrink_to(bytes)
    }

    /// Removes all idle blocks.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        self.shrink_to(0)
    }

    /// Records that nothing can show that the work on exposed blocks is complete.  Returns the idle
    /// ones, and caches none from now on.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn refuse_exposed(&mut self) -> Vec<Segment> {
        self.lacks_evidence = true;
        let mut evicted = Vec::new();
        while let Some(segment) = self.idle.remove_oldest(true) {
            evicted.push(segment);
        }
        self.remove_segments(evicted)
    }

    /// Records that a context is gone.  Forgets the blocks that went with it.  Pages are still there:
    /// idle ones are returned, and others will be when they are released.
    #[must_use = "what is returned is to be freed"]
    pub(crate) fn abandon(&mut self, home: Home) -> Vec<Segment> {
        if home.source == Source::Pages {
            let of_it = self.blocks.values_mut().filter(|entry| entry.request.home == home);
            of_it.for_each(|entry| entry.request.is_cacheable = false);
            let idle = self.idle.remove_all_of(home);
            return self.remove_segments(idle);
        }
        let of_it = self.blocks.iter().filter(|(_, entry)| entry.request.home == home);
        let lost: Vec<u64> = of_it.map(|(start, _)| *start).collect();
        lost.into_iter().for_each(|start| self.forget(start));
        Vec::new()
    }

    /// The number of the last release.
    pub(crate) fn last_release(&self) -> u64 {
        self.idle.last_release()
    }

    /// Records that all work that could touch memory released up to that number is complete.
    pub(crate) fn mark_complete(&mut self, up_to: u64) {
        self.idle.mark_complete(up_to);
    }

    pub(crate) fn count_retry(&mut self) {
        self.stats.out_of_memory_retries += 1;
    }

    /// The statistics.
    pub(crate) fn stats(&self) -> PinnedMemoryStats {
        let (cached_bytes, cached_blocks) = self.idle.total();
        let cache_limit = self.limit.unwrap_or(0);
        PinnedMemoryStats { cached_bytes, cached_blocks, cache_limit, ..self.stats }
    }
}

impl Entry {
    /// Whether the block at `start` contains an address, which is not lower.
    fn contains(&self, start: u64, address: u64) -> bool {
        address - start < self.request.capacity
    }
}

#[cfg(test)]
mod tests;
