//! Statistics of pinned memory.

/// The pinned host memory that this process has and had allocated, in bytes unless the name says
/// otherwise.  Memory that other libraries have pinned does not count.
///
/// ```
/// use arrow_cuda_context::{Context, pinned_memory_stats};
///
/// let block = Context::primary(0)?.allocate_pinned(5000)?;
/// let stats = pinned_memory_stats()?;
/// assert!(stats.allocated_bytes >= 5000 && stats.reserved_bytes >= stats.allocated_bytes);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinnedMemoryStats {
    /// Requested and not released yet.
    pub allocated_bytes: u64,
    /// The highest value of the field above so far.
    pub peak_allocated_bytes: u64,
    /// Allocated by the driver and not freed yet: in use, or cached.
    pub reserved_bytes: u64,
    /// The highest value of the field above so far.
    pub peak_reserved_bytes: u64,
    /// Released, and cached for reuse.
    pub cached_bytes: u64,
    /// The number of cached blocks.
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
    /// How often all cached memory went back to the driver because it could not pin more.
    pub out_of_memory_retries: u64,
}
