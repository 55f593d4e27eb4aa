//! What a context keeps of its released memory, and what it counts.
//!
//! No driver is called under the lock of the pool, and nothing waits for the GIL under any: a
//! release, on whatever thread, takes that lock for some nanoseconds.

pub(crate) mod class;
mod pool;
mod settings;

pub(crate) use class::BLOCK;
pub(crate) use pool::{Found, Idle};
pub(crate) use settings::default_limit;
pub use settings::set_default_cache_limit;

use crate::evidence::Evidence;
use pool::Pool;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a context has and had of its device's memory, in bytes unless it says otherwise.
///
/// ```
/// use arrow_cuda_context::{Context, Placement};
///
/// let context = Context::primary(0)?;
/// let block = context.allocate(3 << 20, Placement::Alone)?;
/// let stats = context.memory_stats()?;
/// assert!(stats.allocated_bytes >= 3 << 20 && stats.reserved_bytes >= 4 << 20);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Asked for and not released yet: [`Context::bytes_allocated`](crate::Context).
    pub allocated_bytes: u64,
    /// The most that this was so far.
    pub peak_allocated_bytes: u64,
    /// What the driver was asked for and has not got back: in use, cached, or exported for good.
    pub reserved_bytes: u64,
    /// The most that this was so far.
    pub peak_reserved_bytes: u64,
    /// Released, and kept to be handed out again.
    pub cached_bytes: u64,
    /// In how many blocks.
    pub cached_blocks: u64,
    /// The most that is kept.
    pub cache_limit: u64,
    /// How many allocations were served with a block that was kept.
    pub cache_hits: u64,
    /// How many were not, while blocks could be kept.
    pub cache_misses: u64,
    /// How often the driver was asked for memory and gave it.
    pub driver_allocations: u64,
    /// How often it was given back.
    pub driver_frees: u64,
    /// How often all that was kept was given back for want of memory.
    pub out_of_memory_retries: u64,
}

/// The released memory of a context.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    shelves: Mutex<Shelves>,
    /// Taken before the other lock.
    evidence: Mutex<Evidence>,
}

#[derive(Debug, Default)]
struct Shelves {
    pool: Pool,
    /// Whether the limit is known: the default depends on the device.
    has_limit: bool,
    stats: MemoryStats,
}

impl Cache {
    /// How much may be kept, if that was decided.
    pub(crate) fn limit(&self) -> Option<u64> {
        let shelves = self.shelves();
        shelves.has_limit.then(|| shelves.pool.limit())
    }

    /// Decides how much may be kept; gives back what exceeds it.
    pub(crate) fn set_limit(&self, bytes: u64) -> Vec<Idle> {
        let mut shelves = self.shelves();
        shelves.has_limit = true;
        shelves.pool.set_limit(bytes)
    }

    /// The same, unless it was decided meanwhile.  The limit that holds.
    pub(crate) fn set_default_limit(&self, bytes: u64) -> u64 {
        let mut shelves = self.shelves();
        if !shelves.has_limit {
            shelves.has_limit = true;
            // Nothing is kept before there is a limit.
            shelves.pool.set_limit(bytes);
        }
        shelves.pool.limit()
    }

    /// A block of that capacity, or a little more, that no work can touch any more.
    ///
    /// `context` must be current, and alive.
    pub(crate) fn take(&self, context: *mut c_void, capacity: u64, is_alone: bool) -> Option<Idle> {
        let released = {
            let mut shelves = self.shelves();
            match shelves.pool.take(capacity, is_alone) {
                Found::Block(idle) => return Some(shelves.hit(idle)),
                Found::Nothing => return shelves.miss(),
                // What is released from here on is not covered by what is found out now.
                Found::Unsure => shelves.pool.released(),
            }
        };
        let mut evidence = self.evidence();
        let over = evidence.over_up_to(context, released);
        let mut shelves = self.shelves();
        shelves.pool.found_over(over);
        match shelves.pool.take(capacity, is_alone) {
            Found::Block(idle) => Some(shelves.hit(idle)),
            _ => shelves.miss(),
        }
    }

    /// Keeps a block; what has to go back to the driver for it.
    pub(crate) fn offer(&self, address: u64, capacity: u64, is_alone: bool) -> Vec<Idle> {
        self.shelves().pool.offer(address, capacity, is_alone)
    }

    /// Gives everything back.
    pub(crate) fn clear(&self) -> Vec<Idle> {
        self.shelves().pool.clear()
    }

    /// Forgets everything: it went with its context.
    pub(crate) fn abandon(&self) {
        self.evidence().abandon();
        let mut shelves = self.shelves();
        shelves.has_limit = true;
        shelves.pool.set_limit(0);
    }

    pub(crate) fn evidence(&self) -> MutexGuard<'_, Evidence> {
        self.evidence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_allocation(&self, capacity: u64) {
        let stats = &mut self.shelves().stats;
        stats.driver_allocations += 1;
        stats.reserved_bytes += capacity;
        stats.peak_reserved_bytes = stats.peak_reserved_bytes.max(stats.reserved_bytes);
    }

    pub(crate) fn count_free(&self, capacity: u64) {
        let stats = &mut self.shelves().stats;
        stats.driver_frees += 1;
        stats.reserved_bytes -= capacity.min(stats.reserved_bytes);
    }

    /// Takes back what was counted as free: the driver has not got it.
    pub(crate) fn count_failed_free(&self, capacity: u64) {
        let stats = &mut self.shelves().stats;
        stats.driver_frees -= 1;
        stats.reserved_bytes += capacity;
    }

    pub(crate) fn count_retry(&self) {
        self.shelves().stats.out_of_memory_retries += 1;
    }

    /// All but what the context itself counts.
    pub(crate) fn stats(&self) -> MemoryStats {
        let shelves = self.shelves();
        let (cached_bytes, cached_blocks) = shelves.pool.kept();
        let cache_limit = shelves.pool.limit();
        MemoryStats { cached_bytes, cached_blocks, cache_limit, ..shelves.stats }
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelves {
    fn hit(&mut self, idle: Idle) -> Idle {
        self.stats.cache_hits += 1;
        idle
    }

    fn miss(&mut self) -> Option<Idle> {
        self.stats.cache_misses += 1;
        None
    }
}
