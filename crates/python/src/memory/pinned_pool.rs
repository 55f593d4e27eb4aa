//! `PinnedMemoryPool` and `pinned_memory_pool`.

use crate::contexts::argument::context_or_first;
use crate::errors::{OrRaise, expected};
use crate::pyarrow::classes::classes;
use crate::pyarrow::cython_subclass::{Class, constructor};
use crate::pyarrow::from_pyarrow::pool_of;
use crate::pyarrow::to_pyarrow::wrap_pool;
use arrow_cuda_context::HostPool;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow_cuda_compat.PinnedMemoryPool",
    signature: "()",
    doc: c"A memory pool of pinned (page-locked) host memory.\n\
        \n\
        Use `pinned_memory_pool` to make one, not the constructor.  It is a\n\
        `pyarrow.MemoryPool`, which all functions of pyarrow accept that have a\n\
        parameter `memory_pool`.\n\
        \n\
        Examples\n\
        --------\n\
        >>> from pyarrow_cuda_compat import PinnedMemoryPool, pinned_memory_pool\n\
        >>> isinstance(pinned_memory_pool(), PinnedMemoryPool)\n\
        True",
    new: constructor!(|_, _, _| Err(PyTypeError::new_err(
        "Do not call PinnedMemoryPool's constructor directly, use `pinned_memory_pool` instead."
    ))),
};

/// The methods of `PinnedMemoryPool`; `self` is an object of that class.
#[pyclass(frozen, subclass, name = "PinnedMemoryPool", module = "pyarrow_cuda_compat")]
pub(crate) struct Methods;

#[pymethods]
impl Methods {
    /// Return all pinned memory that nothing uses to the system.
    ///
    /// This is the pool's own unused memory, and what the process has cached of pinned memory
    /// (see `empty_pinned_cache`).  Waits for all work of the GPUs.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import pinned_memory_pool, pinned_memory_stats
    /// >>> pinned_memory_pool().release_unused()
    /// >>> pinned_memory_stats()["cached_bytes"]
    /// 0
    fn release_unused(slf: &Bound<'_, Self>) -> PyResult<()> {
        // pyarrow's own method releases the memory of the default pool, whichever pool this is.
        let pool = pool_of(slf)?.ok_or_else(|| expected("PinnedMemoryPool", slf))?;
        slf.py().detach(|| pool.release_unused());
        Ok(())
    }
}

/// Return a memory pool of pinned (page-locked) host memory, for pyarrow's own functions.
///
/// Arrays, tables and buffers that pyarrow allocates from this pool are copied to a GPU
/// directly, as those of `new_host_buffer` are.  So pass it to a reader of Parquet, CSV or IPC
/// files whose result is to go to a GPU.  ``pyarrow.set_memory_pool`` makes it the default.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context that pins the memory, for the devices of all contexts, or a device's number
///     or name, for its primary context; by default that of device 0.
///
/// Returns
/// -------
/// pool : PinnedMemoryPool
///     A `pyarrow.MemoryPool`.  All pools of one context are the same: they allocate the same
///     memory, and have the same statistics.
///
/// Raises
/// ------
/// TypeError
///     If `context` is neither a Context nor a number.
/// ValueError
///     If no device has the number.
///
/// Notes
/// -----
/// If the driver cannot pin more memory, an allocation raises a `pyarrow.ArrowMemoryError`,
/// which is a MemoryError.  Before that, the process waits for work that uses its cached
/// pinned memory, and returns that memory.  An allocation that pyarrow makes with the GIL
/// does not wait: another thread returns the memory.  If the context is gone, or in a forked
/// process, an allocation raises an OSError.  Memory that the pool has allocated can be read
/// and written even then.
///
/// Released memory is reused when all earlier work of all devices is complete.  Until then,
/// and if nobody needs it, the process caches it, as it does that of host buffers: see
/// `pinned_memory_stats`, which counts the memory that the pool has reserved.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import pinned_memory_pool
/// >>> pool = pinned_memory_pool(ctx)
/// >>> array = pa.array([1, 2, None], memory_pool=pool)
/// >>> pool.backend_name, pool.bytes_allocated() >= 24
/// ('pinned', True)
/// >>> there = array.copy_to(ctx)
#[pyfunction(signature = (context=None))]
pub(crate) fn pinned_memory_pool<'py>(
    py: Python<'py>,
    context: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let context = context_or_first(py, context)?;
    py.detach(|| context.enter().map(drop)).or_raise(py)?;
    wrap_pool(classes(py)?.pinned_memory_pool.bind(py), HostPool::of(&context))
}
