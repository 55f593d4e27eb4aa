//! The ledger of a context's memory: one entry for each block, with its state, and the statistics.
//! It only keeps books: it calls no driver and takes no lock.
//!
//! A *segment* is memory that the driver has allocated; a *block* is the part of a segment that
//! serves an allocation.  Each segment holds one block today.

pub(crate) mod capacity;
mod idle;

use super::stats::MemoryStats;
use capacity::{BLOCK, MAX_PACKED};
use idle::IdleBlocks;
use std::collections::BTreeMap;

/// Whether an allocation may share a driver block with others.
///
/// The driver packs allocations of at most 1 MiB into blocks of 2 MiB (seen on an H200), and a
/// process that imports one of them can reach the whole block from its kernels.  So memory that may
/// be exported gets a driver block of its own, as long as that wastes little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Alone in its driver block, unless too much memory is wasted that way already.
    Alone,
    /// Wherever the driver puts it.
    Packed,
}

/// Who may reach the memory of a block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// This process.
    Process,
    /// Another process too, as long as the block is in use.
    Lent,
    /// Other processes, without a time limit.
    Exported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InUse(Access),
    /// Released, and cached for reuse.
    Idle,
    /// Released by its owner, but other processes may still have it mapped.
    Exported,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The requested size, in bytes.
    size: u64,
    request: Request,
    state: State,
    /// Whether the bytes behind the requested size may hold residue of earlier buffers.
    has_residue: bool,
}

/// An allocation's request, once its capacity and placement are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) size: u64,
    /// The bytes that the driver is asked for.
    pub(crate) capacity: u64,
    /// The part of the capacity that counts as wasted.
    slack: u64,
    pub(crate) is_alone: bool,
    /// Whether blocks of this capacity may be cached.
    is_cacheable: bool,
}

/// Memory that the driver has allocated, to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) capacity: u64,
}

/// The result of looking for an idle block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleLookup {
    /// A block, in use from now on.
    Hit { address: u64 },
    /// Only blocks that work in flight may still touch.
    InFlight,
    /// No block of about that size.
    Miss,
}

/// One part in this many of a device's memory may be wasted on partly used blocks.
const SLACK_DIVISOR: u64 = 32;

/// The blocks of one context.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By address, idle and exported ones too.
    blocks: BTreeMap<u64, Entry>,
    idle: IdleBlocks,
    /// How many bytes may be idle, once a limit is set.
    limit: Option<u64>,
    /// Bytes reserved beyond what was asked for.
    slack: u64,
    stats: MemoryStats,
}

impl Ledger {
    /// Decides the request for an allocation of `size` bytes, on a device with `total` bytes.
    pub(crate) fn request(&mut self, size: u64, placement: Placement, total: u64) -> Request {
        let is_cacheable = self.limit.is_some_and(|limit| limit > 0);
        if size > MAX_PACKED {
            let capacity = if is_cacheable { capacity::alone(size) } else { size };
            return Request { size, capacity, slack: 0, is_alone: true, is_cacheable };
        }
        let slack = BLOCK - size;
        if placement == Placement::Alone && self.slack + slack <= total / SLACK_DIVISOR {
            self.slack += slack;
            return Request { size, capacity: BLOCK, slack, is_alone: true, is_cacheable };
        }
        Self::packed(size, is_cacheable)
    }

    fn packed(size: u64, is_cacheable: bool) -> Request {
        let capacity = if is_cacheable { capacity::packed(size) } else { size };
        Request { size, capacity, slack: 0, is_alone: false, is_cacheable }
    }

    /// The packed request to fall back to if the driver has no room for a whole block; none if
    /// `request` is packed already.
    pub(crate) fn pack(&mut self, request: &Request) -> Option<Request> {
        (request.slack > 0).then(|| {
            self.cancel(request);
            Self::packed(request.size, request.is_cacheable)
        })
    }

    /// Cancels a request.
    pub(crate) fn cancel(&mut self, request: &Request) {
        self.slack -= request.slack;
    }

    /// Takes an idle block for a request.
    pub(crate) fn reuse(&mut self, request: &Request) -> IdleLookup {
        let found = match request.is_cacheable {
            true => self.idle.take(request.capacity, request.is_alone),
            false => return IdleLookup::Miss,
        };
        if let IdleLookup::Hit { address } = found {
            let entry = self.blocks.get_mut(&address).expect("an idle block has an entry");
            let capacity = entry.request.capacity;
            let request = Request { capacity, ..*request };
            *entry = Entry {
                size: request.size,
                request,
                state: State::InUse(Access::Process),
                has_residue: true,
            };
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
        let state = State::InUse(Access::Process);
        let entry = Entry { size: request.size, request, state, has_residue: false };
        self.blocks.insert(address, entry);
        self.stats.driver_allocations += 1;
        self.count_reserved(request.capacity);
        self.count_allocated(request.size);
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

    /// Releases the block at an address.  Returns the segments that the driver is to free, which
    /// the ledger no longer holds.  A block that a reset of the device has destroyed has no entry,
    /// and frees nothing.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn release(&mut self, address: u64) -> Vec<Segment> {
        let Some(entry) = self.blocks.get_mut(&address) else { return Vec::new() };
        let Request { size, capacity, slack, is_alone, is_cacheable } = entry.request;
        match entry.state {
            State::InUse(Access::Exported) => {
                // Its memory stays allocated, and counts as reserved.
                entry.state = State::Exported;
                return Vec::new();
            }
            State::InUse(_) => {}
            State::Idle | State::Exported => return Vec::new(),
        }
        self.stats.allocated_bytes -= size;
        self.slack -= slack;
        if is_cacheable && entry.state == State::InUse(Access::Process) {
            entry.state = State::Idle;
            let limit = self.limit.unwrap_or(0);
            let evicted = self.idle.add(address, capacity, is_alone, limit);
            return self.remove_segments(evicted);
        }
        // No fence covers the work of a process that the memory was lent to.
        self.remove_segments(vec![Segment { address, capacity }])
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

    /// Restores a segment that the driver has failed to free.
    pub(crate) fn restore_segment(&mut self, segment: &Segment) {
        self.stats.driver_frees -= 1;
        self.count_reserved(segment.capacity);
    }

    /// Widens the access to the block in use at an address.  Returns the address and size, which
    /// may be 0, of the residue of earlier buffers behind the block's own bytes.
    pub(crate) fn share(&mut self, address: u64, access: Access) -> Option<(u64, u64)> {
        let (start, entry) = self.blocks.range_mut(..=address).next_back()?;
        let State::InUse(known) = entry.state else { return None };
        let capacity = entry.request.capacity;
        if address - start >= capacity {
            return None;
        }
        entry.state = State::InUse(known.max(access));
        let residue = if entry.has_residue { capacity - entry.size } else { 0 };
        Some((start + entry.size, residue))
    }

    /// The address and size of the block in use that contains an address.  The driver reserved its
    /// memory from `reserved_from` on.
    pub(crate) fn block_at(&self, address: u64, reserved_from: u64) -> Option<(u64, u64)> {
        let (start, entry) = self.blocks.range(reserved_from..=address).next_back()?;
        (entry.state != State::Idle).then_some((*start, entry.size))
    }

    /// Whether an address lies in an idle block.
    pub(crate) fn is_idle(&self, address: u64) -> bool {
        self.blocks.range(..=address).next_back().is_some_and(|(start, entry)| {
            address - start < entry.request.capacity && entry.state == State::Idle
        })
    }

    /// How many bytes may be idle, if a limit is set.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Sets how many bytes may be idle.  Returns the segments that exceed it.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn set_limit(&mut self, bytes: u64) -> Vec<Segment> {
        self.limit = Some(bytes);
        let evicted = self.idle.shrink_to(bytes);
        self.remove_segments(evicted)
    }

    /// Removes all idle blocks.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        let evicted = self.idle.shrink_to(0);
        self.remove_segments(evicted)
    }

    /// Forgets all blocks, which a reset of the device has destroyed.
    pub(crate) fn abandon(&mut self) {
        self.blocks.clear();
        self.idle = IdleBlocks::default();
        self.limit = Some(0);
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
    pub(crate) fn stats(&self) -> MemoryStats {
        let (cached_bytes, cached_blocks) = self.idle.total();
        let cache_limit = self.limit.unwrap_or(0);
        MemoryStats { cached_bytes, cached_blocks, cache_limit, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
