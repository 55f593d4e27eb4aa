//! Statistics of a context's memory.

/// The memory that a context has and had allocated on its device, in bytes unless the name says
/// otherwise.
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
    /// Requested and not released yet: [`Context::bytes_allocated`](crate::Context).
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
    /// How often all cached memory went back to the driver because the device had no room.
    pub out_of_memory_retries: u64,
}
