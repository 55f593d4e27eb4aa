//! The ledger of a context's memory: one entry for each block, with its state, and what is counted of
//! them.  Bookkeeping alone: it calls no driver and takes no lock.
//!
//! A *segment* is what the driver was asked for; a *block* is what an allocation was given of one.
//! Each segment holds one block today.

pub(crate) mod capacity;
mod idle;

use super::stats::MemoryStats;
use capacity::{BLOCK, PACKED_AT_MOST};
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
    /// As the driver likes.
    Packed,
}

/// Who may reach the memory of a block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// This process.
    Process,
    /// Another process too, as long as the block's owner keeps it.
    Lent,
    /// Other processes, for as long as they like.
    Exported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InUse(Access),
    /// Released, and cached to serve again.
    Idle,
    /// Released by its owner, but other processes may still have it mapped.
    Exported,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What was asked for, in bytes.
    size: u64,
    request: Request,
    state: State,
    /// Whether what lies behind the size may be left over from earlier buffers.
    is_reused: bool,
}

/// What an allocation asks for, once it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) size: u64,
    /// What the driver is asked for.
    pub(crate) capacity: u64,
    /// The part of the capacity that counts as wasted.
    slack: u64,
    pub(crate) is_alone: bool,
    /// Whether the capacity is one by which the ledger finds idle blocks.
    is_cached: bool,
}

/// What the driver is to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) capacity: u64,
}

/// What a request finds among the idle blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A block, in use from now on.
    Block { address: u64 },
    /// Blocks that would serve, if only their work were known to be complete.
    Unsure,
    /// No block of about that size.
    Nothing,
}

/// One part in this many of a device's memory may be wasted on blocks that are used in part.
const SLACK_SHARE: u64 = 32;

/// The blocks of one context.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By address, idle and exported ones too.
    blocks: BTreeMap<u64, Entry>,
    idle: IdleBlocks,
    /// How many bytes may be idle, once that is decided.
    limit: Option<u64>,
    /// Bytes reserved beyond what was asked for.
    slack: u64,
    stats: MemoryStats,
}

impl Ledger {
    /// Decides what an allocation of `size` bytes asks for, on a device of `total` bytes.
    pub(crate) fn request(&mut self, size: u64, placement: Placement, total: u64) -> Request {
        let is_cached = self.limit.is_some_and(|limit| limit > 0);
        if size > PACKED_AT_MOST {
            let capacity = if is_cached { capacity::alone(size) } else { size };
            return Request { size, capacity, slack: 0, is_alone: true, is_cached };
        }
        let slack = BLOCK - size;
        if placement == Placement::Alone && self.slack + slack <= total / SLACK_SHARE {
            self.slack += slack;
            return Request { size, capacity: BLOCK, slack, is_alone: true, is_cached };
        }
        Self::packed(size, is_cached)
    }

    fn packed(size: u64, is_cached: bool) -> Request {
        let capacity = if is_cached { capacity::packed(size) } else { size };
        Request { size, capacity, slack: 0, is_alone: false, is_cached }
    }

    /// The request to fall back to where the driver has no room for a whole block of its own; none
    /// if that was not asked for.
    pub(crate) fn pack(&mut self, request: &Request) -> Option<Request> {
        (request.slack > 0).then(|| {
            self.cancel(request);
            Self::packed(request.size, request.is_cached)
        })
    }

    /// Gives a request up.
    pub(crate) fn cancel(&mut self, request: &Request) {
        self.slack -= request.slack;
    }

    /// Takes an idle block for a request.
    pub(crate) fn reuse(&mut self, request: &Request) -> Found {
        let found = match request.is_cached {
            true => self.idle.take(request.capacity, request.is_alone),
            false => return Found::Nothing,
        };
        if let Found::Block { address } = found {
            let entry = self.blocks.get_mut(&address).expect("an idle block has an entry");
            let capacity = entry.request.capacity;
            let request = Request { capacity, ..*request };
            *entry = Entry {
                size: request.size,
                request,
                state: State::InUse(Access::Process),
                is_reused: true,
            };
            self.stats.cache_hits += 1;
            self.count_allocated(request.size);
        }
        found
    }

    /// Counts a request that idle blocks did not serve.
    pub(crate) fn count_miss(&mut self, request: &Request) {
        self.stats.cache_misses += u64::from(request.is_cached);
    }

    /// Enters a block that the driver has given for a request.
    pub(crate) fn add(&mut self, address: u64, request: Request) {
        let state = State::InUse(Access::Process);
        let entry = Entry { size: request.size, request, state, is_reused: false };
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

    /// Releases the block at an address: what the driver is to free for it, which is not in the
    /// ledger any more.  A block that went with a reset of the device is not there, and frees nothing.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn release(&mut self, address: u64) -> Vec<Segment> {
        let Some(entry) = self.blocks.get_mut(&address) else { return Vec::new() };
        let Request { size, capacity, slack, is_alone, is_cached } = entry.request;
        match entry.state {
            State::InUse(Access::Exported) => {
                // Its memory stays allocated, and counts.
                entry.state = State::Exported;
                return Vec::new();
            }
            State::InUse(_) => {}
            State::Idle | State::Exported => return Vec::new(),
        }
        self.stats.allocated_bytes -= size;
        self.slack -= slack;
        if is_cached && entry.state == State::InUse(Access::Process) {
            entry.state = State::Idle;
            let limit = self.limit.unwrap_or(0);
            let evicted = self.idle.add(address, capacity, is_alone, limit);
            return self.give_up(evicted);
        }
        // Nothing tells of the work of a process that it was lent to.
        self.give_up(vec![Segment { address, capacity }])
    }

    /// Takes segments out of the ledger.  Once the driver has them, another thread may be given the
    /// same addresses.
    fn give_up(&mut self, segments: Vec<Segment>) -> Vec<Segment> {
        for segment in &segments {
            self.blocks.remove(&segment.address);
            self.stats.driver_frees += 1;
            self.stats.reserved_bytes -= segment.capacity;
        }
        segments
    }

    /// Takes back that the driver was to free a segment: it has not.
    pub(crate) fn not_freed(&mut self, segment: &Segment) {
        self.stats.driver_frees -= 1;
        self.count_reserved(segment.capacity);
    }

    /// Widens who may reach the block in use that an address lies in.  What is left in it of earlier
    /// buffers, behind its own bytes: address and size, which may be 0.
    pub(crate) fn share(&mut self, address: u64, access: Access) -> Option<(u64, u64)> {
        let (start, entry) = self.blocks.range_mut(..=address).next_back()?;
        let State::InUse(known) = entry.state else { return None };
        let capacity = entry.request.capacity;
        if address - start >= capacity {
            return None;
        }
        entry.state = State::InUse(known.max(access));
        let residue = if entry.is_reused { capacity - entry.size } else { 0 };
        Some((start + entry.size, residue))
    }

    /// The block in use whose memory, as the driver reserved it from `reserved_from` on, an address
    /// lies in: its address and size.
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

    /// How many bytes may be idle, if that was decided.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Decides how many bytes may be idle: the segments that exceed it.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn set_limit(&mut self, bytes: u64) -> Vec<Segment> {
        self.limit = Some(bytes);
        let evicted = self.idle.shrink_to(bytes);
        self.give_up(evicted)
    }

    /// Takes all idle blocks out.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        let evicted = self.idle.shrink_to(0);
        self.give_up(evicted)
    }

    /// Forgets all blocks: a reset of the device has taken them.
    pub(crate) fn abandon(&mut self) {
        self.blocks.clear();
        self.idle = IdleBlocks::default();
        self.limit = Some(0);
    }

    /// The number of the last release.
    pub(crate) fn last_release(&self) -> u64 {
        self.idle.last_release()
    }

    /// Takes note that the work is complete which could touch what was released up to that number.
    pub(crate) fn note_complete(&mut self, up_to: u64) {
        self.idle.note_complete(up_to);
    }

    pub(crate) fn count_retry(&mut self) {
        self.stats.out_of_memory_retries += 1;
    }

    /// What is counted.
    pub(crate) fn stats(&self) -> MemoryStats {
        let (cached_bytes, cached_blocks) = self.idle.total();
        let cache_limit = self.limit.unwrap_or(0);
        MemoryStats { cached_bytes, cached_blocks, cache_limit, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
