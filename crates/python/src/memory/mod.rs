//! Where memory comes from: caches of released memory, pools, allocators, registered host memory.

mod allocator;
mod cache;
mod pinned_cache;
pub(crate) mod pinned_pool;
mod registered_array;

use crate::errors::out_of_memory_class;
use crate::registration::{PACKAGE, Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.exception(out_of_memory_class(registration.module().py())?)?;
    let public = functions!(
        registration,
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
    );
    registration.public(PACKAGE, public)?;
    registration.private_class::<registered_array::PyRegisteredArray>()?;
    registration.private(functions!(registration, allocator::own_buffer))
}
