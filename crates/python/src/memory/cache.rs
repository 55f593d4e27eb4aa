//! The memory that contexts cache for later allocations: its limit, its statistics, and its
//! release.

use crate::errors::{OrRaise, non_negative};
use crate::memory::context::{PyContext, context_argument};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Return how much device memory is in use and cached.
///
/// Memory of released buffers is kept and handed out again: asking the driver for
/// memory, and giving it back, takes some hundred times as long.
///
/// Parameters
/// ----------
/// context : Context, optional
///     The context whose memory it is; by default device 0's primary one.
///
/// Returns
/// -------
/// dict of str to int
///     In this process:
///
///     * ``allocated_bytes``: what was asked for and is not released yet, as
///       `Context.bytes_allocated`; ``peak_allocated_bytes``: the most that it was.
///     * ``reserved_bytes``: what the driver has given and not got back: in use,
///       cached, or exported for good; ``peak_reserved_bytes``: the most that it was.
///     * ``cached_bytes``, ``cached_blocks``: what was released and is kept;
///       ``cache_limit``: the most bytes that are.
///     * ``cache_hits``, ``cache_misses``: how many allocations were served with
///       memory that was kept, and how many were not.
///     * ``driver_allocations``, ``driver_frees``: how often the driver was asked.
///     * ``out_of_memory_retries``: how often all cached memory went back to the
///       driver because it had no more.
///
/// Raises
/// ------
/// TypeError
///     If `context` is no Context.
/// OSError
///     In a forked process, which cannot use CUDA; or if there is no device 0.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import memory_stats
/// >>> ctx = cuda.Context(0)
/// >>> buf = ctx.new_buffer(1000)
/// >>> memory_stats(ctx)["allocated_bytes"] == ctx.bytes_allocated
/// True
#[pyfunction]
#[pyo3(signature = (context=None))]
pub(crate) fn memory_stats<'py>(
    py: Python<'py>,
    context: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let stats = with_context(py, context, Context::memory_stats)?;
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

/// Give all cached device memory back to the driver.
///
/// Other libraries and processes can have it then.  Buffers that are in use are not
/// touched.  Waits for all work of the device.
///
/// Parameters
/// ----------
/// context : Context, optional
///     The context whose memory it is; by default device 0's primary one.
///
/// Returns
/// -------
/// int
///     How many bytes it was.
///
/// Raises
/// ------
/// TypeError
///     If `context` is no Context.
/// OSError
///     If the driver could not take some of it back, after all was tried; in a forked
///     process; or if there is no device 0.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import empty_cache, memory_stats
/// >>> ctx = cuda.Context(0)
/// >>> buf = ctx.new_buffer(1000)
/// >>> del buf
/// >>> _ = empty_cache(ctx)
/// >>> memory_stats(ctx)["cached_bytes"]
/// 0
#[pyfunction]
#[pyo3(signature = (context=None))]
pub(crate) fn empty_cache(py: Python<'_>, context: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    with_context(py, context, Context::empty_cache)
}

/// Set how much device memory is cached, from now on.
///
/// What exceeds it goes back to the driver: that which was released longest ago first.
/// The environment variable ``PYARROW_CUDA_CACHE`` sets it for all contexts from the
/// start; without either it is an eighth of the device's memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     The most bytes of released memory that the context keeps; 0 for none.
/// context : Context, optional
///     The context whose memory it is; by default device 0's primary one.  One of
///     another library's keeps nothing, whatever is set.
///
/// Raises
/// ------
/// TypeError
///     If `context` is no Context.
/// ValueError
///     If `nbytes` is negative.
/// OSError
///     If the driver could not take memory back, after all was tried; in a forked
///     process; or if there is no device 0.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import memory_stats, set_cache_limit
/// >>> ctx = cuda.Context(0)
/// >>> before = memory_stats(ctx)["cache_limit"]
/// >>> set_cache_limit(64 << 20, ctx)
/// >>> memory_stats(ctx)["cache_limit"]
/// 67108864
/// >>> set_cache_limit(before, ctx)
#[pyfunction]
#[pyo3(signature = (nbytes, context=None))]
pub(crate) fn set_cache_limit(
    py: Python<'_>,
    nbytes: i64,
    context: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let nbytes = non_negative("nbytes", nbytes)?;
    with_context(py, context, |context| context.set_cache_limit(nbytes))
}

fn with_context<T: Send>(
    py: Python<'_>,
    context: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context) -> CudaResult<T> + Send,
) -> PyResult<T> {
    match context {
        Some(context) => {
            let context = context_argument(context).map(PyContext::context)?;
            py.detach(|| work(context)).or_raise(py)
        }
        None => py.detach(|| work(&Context::primary(0)?)).or_raise(py),
    }
}
