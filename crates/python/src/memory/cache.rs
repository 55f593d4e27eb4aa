//! The memory that contexts cache for later allocations: its limit, its statistics, and its
//! release.

use crate::contexts::argument::context_or_first;
use crate::errors::{ByteCount, OrRaise, non_negative};
use arrow_cuda_context::{Context, MemoryStats};
use arrow_cuda_driver::CudaResult;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Return how much device memory is in use and cached.
///
/// The package caches the memory of released buffers and reuses it: allocating memory
/// from the driver, and releasing it there, takes about a hundred times as long.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context, or a device's number or name for its primary one; by default that of device 0.
///
/// Returns
/// -------
/// dict of str to int
///     In this process:
///
///     * ``allocated_bytes``: the requested bytes that are in use, as in
///       `Context.bytes_allocated`; ``peak_allocated_bytes``: their maximum so far.
///     * ``reserved_bytes``: the memory that the driver has allocated for this context: in
///       use, cached, or exported; ``peak_reserved_bytes``: its maximum so far.
///     * ``cached_bytes``, ``cached_blocks``: the driver's allocations in which no buffer is
///       in use, which `empty_cache` returns: their size and their number; ``cache_limit``:
///       the most bytes that the context caches.  Released parts of other allocations are
///       reused, too.
///     * ``cache_hits``, ``cache_misses``: how many allocations reused cached memory, and
///       how many did not.
///     * ``driver_allocations``, ``driver_frees``: how often the driver was called.
///     * ``out_of_memory_retries``: how often all cached memory was returned to the driver
///       because the device ran out of memory.
///
/// Raises
/// ------
/// TypeError
///     If `context` is neither.
/// ValueError
///     If the device does not exist.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import memory_stats
/// >>> buf = ctx.new_buffer(1000)
/// >>> memory_stats(ctx)["allocated_bytes"] == ctx.bytes_allocated
/// True
#[pyfunction(signature = (context=None))]
pub(crate) fn memory_stats<'py>(
    py: Python<'py>,
    context: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    as_dict(py, &with_context(py, context, |context| context.cache().stats())?)
}

/// The statistics of either cache.
pub(super) fn as_dict<'py>(py: Python<'py>, stats: &MemoryStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in [
        ("allocated_bytes", stats.allocated_bytes),
        ("peak_allocated_bytes", stats.peak_allocated_bytes),
        ("reserved_bytes", stats.reserved_bytes),
        ("peak_reserved_bytes", stats.peak_reserved_bytes),
        ("cached_bytes", stats.cached_bytes),
        ("cached_blocks", stats.cached_blocks),
        ("cache_limit", stats.cache_limit),
        ("cache_hits", stats.cache_hits),
        ("cache_misses", stats.cache_misses),
        ("driver_allocations", stats.driver_allocations),
        ("driver_frees", stats.driver_frees),
        ("out_of_memory_retries", stats.out_of_memory_retries),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// Let the peaks of `memory_stats` begin again.
///
/// Both peaks become what is allocated and reserved now, to measure the next part of a program.
/// The package's cached memory does not change.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context, or a device's number or name for its primary one; by default that of device 0.
///
/// Raises
/// ------
/// TypeError, ValueError
///     As for `memory_stats`.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import memory_stats, reset_peak_memory_stats
/// >>> buf = ctx.new_buffer(1000)
/// >>> del buf
/// >>> reset_peak_memory_stats(ctx)
/// >>> memory_stats(ctx)["peak_allocated_bytes"] == ctx.bytes_allocated
/// True
#[pyfunction(signature = (context=None))]
pub(crate) fn reset_peak_memory_stats(
    py: Python<'_>,
    context: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    with_context(py, context, |context| context.cache().reset_peaks())
}

/// Return how much memory of a device is free, and how much it has.
///
/// Other than `memory_stats`, this counts what all processes and libraries use.  What this
/// package caches is not free for others; `empty_cache` returns it.
///
/// Parameters
/// ----------
/// device : Context, int or str, optional
///     The device's number or name, or a context on it; by default device 0.
///
/// Returns
/// -------
/// free, total : tuple of int
///     In bytes.
///
/// Raises
/// ------
/// TypeError
///     If `device` is neither.
/// ValueError
///     If the device does not exist.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import mem_get_info
/// >>> free, total = mem_get_info()
/// >>> 0 < free < total
/// True
#[pyfunction(signature = (device=None))]
pub(crate) fn mem_get_info(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u64, u64)> {
    with_context(py, device, |context| Ok((context.free_memory()?, context.total_memory()?)))
}

/// Return all cached device memory to the driver.
///
/// Other libraries and processes can then allocate it.  Buffers in use are not affected.
/// Waits for all work of the device.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context, or a device's number or name for its primary one; by default that of device 0.
///
/// Returns
/// -------
/// int
///     The number of bytes returned.
///
/// Raises
/// ------
/// TypeError, ValueError
///     As for `memory_stats`.
/// OSError
///     If the driver fails to release some of the memory, after the rest was released.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import empty_cache, memory_stats
/// >>> buf = ctx.new_buffer(1000)
/// >>> del buf
/// >>> _ = empty_cache(ctx)
/// >>> memory_stats(ctx)["cached_bytes"]
/// 0
#[pyfunction(signature = (context=None))]
pub(crate) fn empty_cache(py: Python<'_>, context: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    with_context(py, context, |context| context.cache().empty())
}

/// Set how much released device memory a context may cache.
///
/// Cached memory above the limit returns to the driver, large allocations first, and among
/// these the one released longest ago.  Memory that is released later and exceeds the limit
/// returns as soon as the device has no work.  The environment variable
/// ``PYARROW_CUDA_CACHE`` sets the initial limit of all contexts; the default is an eighth of
/// the device's memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     The most bytes of released memory that the context caches; 0 disables the cache.
/// context : Context, int or str, optional
///     The context, or a device's number or name for its primary one; by default that of device 0.
///     The contexts of other libraries never cache memory, whatever the limit is.
///
/// Raises
/// ------
/// TypeError
///     If `context` is neither.
/// ValueError
///     If `nbytes` is negative, or the device does not exist.
/// OSError
///     If the driver fails to release memory, after the rest was released.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import memory_stats, set_cache_limit
/// >>> before = memory_stats(ctx)["cache_limit"]
/// >>> set_cache_limit(64 << 20, ctx)
/// >>> memory_stats(ctx)["cache_limit"]
/// 67108864
/// >>> set_cache_limit(before, ctx)
#[pyfunction(signature = (nbytes, context=None))]
pub(crate) fn set_cache_limit(
    py: Python<'_>,
    nbytes: ByteCount,
    context: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let nbytes = non_negative("nbytes", nbytes.0)?;
    with_context(py, context, |context| context.cache().set_limit(nbytes as u64))
}

fn with_context<T: Send>(
    py: Python<'_>,
    context: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context) -> CudaResult<T> + Send,
) -> PyResult<T> {
    let context = context_or_first(py, context)?;
    py.detach(|| work(&context)).or_raise(py)
}
