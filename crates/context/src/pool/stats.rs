//! The counters behind `memory_stats`, and the limit of the cache; `cache.rs` reads them.

use arrow_cuda_driver::Lock;

/// The memory that a context has on its device, or that the process has pinned, in bytes unless the name says
/// otherwise.  Memory of other libraries does not count.
///
/// ```
/// use arrow_cuda_context::{Block, Cache, Context, Placement};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 3 << 20, Placement::Alone)?;
/// let stats = context.cache().stats()?;
/// assert!(stats.allocated_bytes >= 3 << 20 && stats.reserved_bytes >= 4 << 20);
///
/// let pinned = Block::allocate_pinned(&context, 5000)?;
/// assert!(Cache::Pinned.stats()?.allocated_bytes >= 5000);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// Requested and not released yet: for device memory,
    /// [`Context::bytes_allocated`](crate::Context).
    pub allocated_bytes: u64,
    /// The highest value of the field above so far.
    pub peak_allocated_bytes: u64,
    /// Allocated by the driver and not freed yet: in use, cached, or exported.
    pub reserved_bytes: u64,
    /// The highest value of the field above so far.
    pub peak_reserved_bytes: u64,
    /// Released, and cached for reuse: what could go back to the driver, since nothing in the same driver
    /// allocation is in use.  Parts of other allocations may be reused, too.
    pub cached_bytes: u64,
    /// The number of driver allocations that are cached.
    pub cached_blocks: u64,
    /// The most that may be cached.
    pub cache_limit: u64,
    /// How many allocations got a cached block.
    pub cache_hits: u64,
    /// How many allocations found no cached block that fits, although caching is on.
    pub cache_misses: u64,
    /// How often the driver has allocated memory.
    pub driver_allocations: u64,
    /// How often the driver has freed memory.
    pub driver_frees: u64,
    /// How often all cached memory went back to the driver because there was no room.
    pub out_of_memory_retries: u64,
}

/// The account of pinned memory, which all pools of it in the process share.  Its lock is taken after that of a ledger.
pub(super) static PINNED: Lock<Option<Account>> = Lock::new(None);

/// The account of the pools that share a limit: of one pool of device memory, or of all pools of pinned memory.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// How many bytes may be cached, once that is known: in segments in which nothing is in use.
    pub(crate) limit: Option<u64>,
    /// The most that was in use since a cache was emptied last: what the program is known to need.
    pub(crate) peak: u64,
    pub(crate) stats: MemoryStats,
}

impl Account {
    pub(crate) fn count_allocated(&mut self, bytes: u64) {
        let stats = &mut self.stats;
        stats.allocated_bytes += bytes;
        stats.peak_allocated_bytes = stats.peak_allocated_bytes.max(stats.allocated_bytes);
        self.peak = self.peak.max(stats.allocated_bytes);
    }

    pub(crate) fn count_reserved(&mut self, bytes: u64) {
        let stats = &mut self.stats;
        stats.reserved_bytes += bytes;
        stats.peak_reserved_bytes = stats.peak_reserved_bytes.max(stats.reserved_bytes);
    }

    /// Forgets the highest values that the statistics show, but not what decides what is kept.
    pub(crate) fn reset_peaks(&mut self) {
        self.stats.peak_allocated_bytes = self.stats.allocated_bytes;
        self.stats.peak_reserved_bytes = self.stats.reserved_bytes;
    }
}
