//! The pinned host memory that the process caches for later allocations: its limit, its statistics,
//! and its release.

use super::cache::as_dict;
use crate::errors::{ByteCount, OrRaise, non_negative};
use arrow_cuda_context::Cache;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Return how much pinned host memory is in use and cached.
///
/// The package caches the pinned memory of released buffers and reuses it: the driver takes
/// milliseconds to pin memory.  There is one cache for the process; each GPU's context reuses
/// what it has allocated.  Pinned memory of other libraries does not count.
///
/// Returns
/// -------
/// dict of str to int
///     The same keys as those of `memory_stats`, for the pinned memory of this process: that of
///     host buffers, of memory pools and of the package itself.  `empty_pinned_cache` returns
///     the cached bytes to the driver.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import pinned_memory_stats
/// >>> pinned = cuda.new_host_buffer(1000)
/// >>> pinned_memory_stats()["allocated_bytes"] >= 1000
/// True
#[pyfunction]
pub(crate) fn pinned_memory_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    as_dict(py, &py.detach(|| Cache::Pinned.stats()).or_raise(py)?)
}

/// Let the peaks of `pinned_memory_stats` begin again.
///
/// Both peaks become what is allocated and reserved now, to measure the next part of a program.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import pinned_memory_stats, reset_peak_pinned_memory_stats
/// >>> pinned = cuda.new_host_buffer(1000)
/// >>> reset_peak_pinned_memory_stats()
/// >>> stats = pinned_memory_stats()
/// >>> stats["peak_allocated_bytes"] == stats["allocated_bytes"]
/// True
#[pyfunction]
pub(crate) fn reset_peak_pinned_memory_stats(py: Python<'_>) -> PyResult<()> {
    py.detach(|| Cache::Pinned.reset_peaks()).or_raise(py)
}

/// Return all cached pinned host memory to the driver, and so to the system.
///
/// Buffers in use are not affected; neither is device memory, which `empty_cache` returns.
/// Waits for all work of the GPUs.
///
/// Returns
/// -------
/// int
///     The number of bytes returned.
///
/// Raises
/// ------
/// OSError
///     If the driver fails to release some of the memory, after the rest was released.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import empty_pinned_cache, pinned_memory_stats
/// >>> pinned = cuda.new_host_buffer(1000)
/// >>> del pinned
/// >>> _ = empty_pinned_cache()
/// >>> pinned_memory_stats()["cached_bytes"]
/// 0
#[pyfunction]
pub(crate) fn empty_pinned_cache(py: Python<'_>) -> PyResult<u64> {
    py.detach(|| Cache::Pinned.empty()).or_raise(py)
}

/// Set how much released pinned host memory the process may cache.
///
/// Cached memory above the limit returns to the driver, the memory released longest ago
/// first.  The environment variable ``PYARROW_CUDA_PINNED_CACHE`` sets the initial limit; the
/// default is a sixteenth of the machine's memory, and at most 1 GiB.
///
/// Parameters
/// ----------
/// nbytes : int
///     The most bytes of released pinned memory that the process caches; 0 disables the cache.
///
/// Raises
/// ------
/// ValueError
///     If `nbytes` is negative.
/// OSError
///     If the driver fails to release memory, after the rest was released.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import pinned_memory_stats, set_pinned_cache_limit
/// >>> before = pinned_memory_stats()["cache_limit"]
/// >>> set_pinned_cache_limit(64 << 20)
/// >>> pinned_memory_stats()["cache_limit"]
/// 67108864
/// >>> set_pinned_cache_limit(before)
#[pyfunction]
pub(crate) fn set_pinned_cache_limit(py: Python<'_>, nbytes: ByteCount) -> PyResult<()> {
    let nbytes = non_negative("nbytes", nbytes.0)?;
    py.detach(|| Cache::Pinned.set_limit(nbytes as u64)).or_raise(py)
}
