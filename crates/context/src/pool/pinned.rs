//! The cache of pinned host memory, which is one for the process.

use super::budget::PINNED;
use super::{Block, MemoryStats, Placement, Source};
use crate::{Context, Current, contexts};
use arrow_cuda_driver::CudaResult;

/// The sources whose pools share the budget of pinned memory.
const PINNED_SOURCES: [Source; 2] = [Source::Pinned, Source::Pages];

impl Context {
    /// Allocates `size` bytes, more than 0, of host memory that is pinned for all contexts.  Their
    /// content is unspecified: zeros, or what this process had in pinned memory before.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the driver cannot pin so much memory; an error when the
    /// context is gone.
    pub fn allocate_pinned(&self, size: usize) -> CudaResult<Block> {
        self.allocate_block(Source::Pinned, size as u64, Placement::Packed)
    }
}

/// Frees cached pinned memory of all contexts by `free`.  Returns how many bytes, and the first failure.
pub(super) fn for_each_pool(
    free: impl Fn(&Context, Source) -> (u64, CudaResult<()>),
) -> (u64, CudaResult<()>) {
    let mut sum = (0, Ok(()));
    for context in contexts::all() {
        for source in PINNED_SOURCES {
            let (bytes, outcome) = free(&context, source);
            sum = (sum.0 + bytes, sum.1.and(outcome));
        }
    }
    sum
}

/// Gives the driver what exceeds the limit, from the pools of all contexts.
pub(super) fn return_surplus_of_all(current: &Current<'_>) -> CudaResult<()> {
    for_each_pool(|context, source| {
        let returned = match context.is_same(current.context()) {
            true => context.return_surplus(source, current, 0),
            false => context.enter().and_then(|it| context.return_surplus(source, &it, 0)),
        };
        (0, returned.or_else(|error| context.unless_gone(error)))
    })
    .1
}

/// How much pinned host memory is and was in use and cached, and how often cached memory was reused.
///
/// # Errors
///
/// In a forked child.
pub fn pinned_memory_stats() -> CudaResult<MemoryStats> {
    Ok(MemoryStats { cache_limit: PINNED.limit(), ..PINNED.stats()? })
}

/// Lets both peaks of the statistics begin again, at what is allocated and reserved now.
///
/// # Errors
///
/// In a forked child.
pub fn reset_peak_pinned_memory_stats() -> CudaResult<()> {
    PINNED.stats()?;
    PINNED.with_stats(MemoryStats::reset_peaks);
    Ok(())
}

/// Sets how many bytes of released pinned memory the process caches from now on; 0 for none.  Memory
/// that exceeds the limit goes back to the driver.
///
/// The limit is `PYARROW_CUDA_PINNED_CACHE` at first: a number of bytes (`K`, `M` and `G` are powers
/// of 1024), `0` or `off`; without it, 1/16 of the machine's memory, and at most 1 GiB.
///
/// ```
/// use arrow_cuda_context::{Context, pinned_memory_stats, set_pinned_cache_limit};
///
/// set_pinned_cache_limit(0)?;
/// drop(Context::primary(0)?.allocate_pinned(100)?);
/// assert_eq!(pinned_memory_stats()?.cached_bytes, 0);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
///
/// # Errors
///
/// In a forked child; or the first error of a release, once all were tried.
pub fn set_pinned_cache_limit(bytes: u64) -> CudaResult<()> {
    PINNED.stats()?;
    PINNED.set_limit(bytes);
    for_each_pool(|context, source| {
        context.free_removed(source, || Ok(context.pool(source).ledger()?.remove_beyond_limit()))
    })
    .1
}

/// Gives all cached pinned memory back to the driver, and so to the system, and returns its size in
/// bytes.  Waits for all work of the devices.
///
/// ```
/// use arrow_cuda_context::{Context, empty_pinned_cache, pinned_memory_stats};
///
/// drop(Context::primary(0)?.allocate_pinned(100)?);
/// empty_pinned_cache()?;
/// assert_eq!(pinned_memory_stats()?.cached_bytes, 0);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
///
/// # Errors
///
/// In a forked child; or the first error of a release, once all were tried.
pub fn empty_pinned_cache() -> CudaResult<u64> {
    PINNED.stats()?;
    let (bytes, outcome) = for_each_pool(Context::empty_pool);
    outcome.map(|()| bytes)
}
