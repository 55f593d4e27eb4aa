//! Where memory comes from: caches of released memory, pools, allocators, registered host memory.

mod allocator;
mod cache;
mod callback_memory;
mod history;
mod pinned_cache;
pub(crate) mod pinned_pool;
mod registered_array;

use crate::errors::out_of_memory_class;
use crate::registration::{PACKAGE, private, public};
use callback_memory::PyCallbackMemory;
use pyo3::PyClass;
use pyo3::prelude::*;
use registered_array::PyRegisteredArray;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let out_of_memory = out_of_memory_class(module.py())?;
    module.add(out_of_memory.name()?, out_of_memory)?;
    public!(
        module,
        PACKAGE,
        cache::memory_stats,
        cache::mem_get_info,
        cache::reset_peak_memory_stats,
        cache::empty_cache,
        cache::set_cache_limit,
        pinned_cache::pinned_memory_stats,
        pinned_cache::reset_peak_pinned_memory_stats,
        pinned_cache::empty_pinned_cache,
        pinned_cache::set_pinned_cache_limit,
        pinned_pool::pinned_memory_pool,
        allocator::set_allocator,
    )?;
    module.setattr(PyRegisteredArray::NAME, module.py().get_type::<PyRegisteredArray>())?;
    module.setattr(PyCallbackMemory::NAME, module.py().get_type::<PyCallbackMemory>())?;
    private!(
        module,
        allocator::allocate,
        history::segments,
        history::start,
        history::events,
        history::stop,
    )
}
