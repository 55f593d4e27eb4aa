//! Statistics of memory.

/// The memory that a context has on its device, or that the process has pinned, in bytes unless the name says
/// otherwise.  Memory of other libraries does not count.
///
/// ```
/// use arrow_cuda_context::{Cache, Context, Placement};
///
/// let context = Context::primary(0)?;
/// let block = context.allocate(3 << 20, Placement::Alone)?;
/// let stats = context.cache().stats()?;
/// assert!(stats.allocated_bytes >= 3 << 20 && stats.reserved_bytes >= 4 << 20);
///
/// let pinned = context.allocate_pinned(5000)?;
/// assert!(Cache::Pinned.stats()?.allocated_bytes >= 5000);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Released, and cached for reuse: what could go back to the driver, since nothing in the same
    /// driver allocation is in use.  Parts of others may serve again, too.
    pub cached_bytes: u64,
    /// The number of driver allocations that are cached.
    pub cached_blocks: u64,
    /// The most that may be cached.
    pub cache_limit: u64,
    /// How many allocations a cached block has served.
    pub cache_hits: u64,
    /// How many allocations no cached block could serve, although caching is on.
    pub cache_misses: u64,
    /// How often the driver has allocated memory.
    pub driver_allocations: u64,
    /// How often the driver has freed memory.
    pub driver_frees: u64,
    /// How often all cached memory went back to the driver because there was no room.
    pub out_of_memory_retries: u64,
}

impl MemoryStats {
    pub(crate) fn count_allocated(&mut self, bytes: u64) {
        self.allocated_bytes += bytes;
        self.peak_allocated_bytes = self.peak_allocated_bytes.max(self.allocated_bytes);
    }

    pub(crate) fn count_reserved(&mut self, bytes: u64) {
        self.reserved_bytes += bytes;
        self.peak_reserved_bytes = self.peak_reserved_bytes.max(self.reserved_bytes);
    }

    /// Lets both peaks begin again, at what is allocated and reserved now.
    pub(crate) fn reset_peaks(&mut self) {
        self.peak_allocated_bytes = self.allocated_bytes;
        self.peak_reserved_bytes = self.reserved_bytes;
    }

    /// Adds what has changed in one of several pools.
    pub(crate) fn add_difference(&mut self, before: &Self, after: &Self) {
        fn add(total: &mut u64, before: u64, after: u64) {
            *total = total.wrapping_add(after).wrapping_sub(before);
        }
        add(&mut self.cached_bytes, before.cached_bytes, after.cached_bytes);
        add(&mut self.cached_blocks, before.cached_blocks, after.cached_blocks);
        add(&mut self.cache_hits, before.cache_hits, after.cache_hits);
        add(&mut self.cache_misses, before.cache_misses, after.cache_misses);
        add(&mut self.driver_allocations, before.driver_allocations, after.driver_allocations);
        add(&mut self.driver_frees, before.driver_frees, after.driver_frees);
        add(
            &mut self.out_of_memory_retries,
            before.out_of_memory_retries,
            after.out_of_memory_retries,
        );
        add(&mut self.allocated_bytes, before.allocated_bytes, after.allocated_bytes);
        add(&mut self.reserved_bytes, before.reserved_bytes, after.reserved_bytes);
        self.count_allocated(0);
        self.count_reserved(0);
    }
}
