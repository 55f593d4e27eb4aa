//! What is counted of a context's memory.

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
    /// What the driver was asked for and has not got back: in use, cached, or exported.
    pub reserved_bytes: u64,
    /// The most that this was so far.
    pub peak_reserved_bytes: u64,
    /// Released, and kept to serve again.
    pub cached_bytes: u64,
    /// In how many blocks.
    pub cached_blocks: u64,
    /// The most that may be cached.
    pub cache_limit: u64,
    /// How many allocations a cached block has served.
    pub cache_hits: u64,
    /// How many it has not, although blocks may be cached.
    pub cache_misses: u64,
    /// How often the driver was asked for memory and gave it.
    pub driver_allocations: u64,
    /// How often the driver got memory back.
    pub driver_frees: u64,
    /// How often the driver got all cached memory back because the device had no room.
    pub out_of_memory_retries: u64,
}
