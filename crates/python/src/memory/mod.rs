//! Contexts, the buffers that they allocate, and the released memory that is cached.

mod allocator;
pub(crate) mod argument;
pub(crate) mod buffer;
mod cache;
pub(crate) mod context;
pub(crate) mod host_buffer;
mod pinned_cache;
pub(crate) mod pinned_pool;

use crate::errors::out_of_memory_class;
use crate::names::{Names, PACKAGE, PYARROW};
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.class::<context::PyContext>()?;
    names.private(&wrap_pyfunction!(argument::context_of, module)?)?;
    names.exception(out_of_memory_class(module.py())?)?;
    names.function(wrap_pyfunction!(host_buffer::new_host_buffer, module)?, PYARROW)?;
    names.function(wrap_pyfunction!(cache::memory_stats, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(cache::mem_get_info, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(cache::reset_peak_memory_stats, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(cache::empty_cache, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(cache::set_cache_limit, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(pinned_cache::pinned_memory_stats, module)?, PACKAGE)?;
    names.function(
        wrap_pyfunction!(pinned_cache::reset_peak_pinned_memory_stats, module)?,
        PACKAGE,
    )?;
    names.function(wrap_pyfunction!(pinned_cache::empty_pinned_cache, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(pinned_cache::set_pinned_cache_limit, module)?, PACKAGE)?;
    names.function(wrap_pyfunction!(pinned_pool::pinned_memory_pool, module)?, PACKAGE)?;
    names.private(&wrap_pyfunction!(allocator::own_buffer, module)?)?;
    names.function(wrap_pyfunction!(allocator::set_allocator, module)?, PACKAGE)
}
