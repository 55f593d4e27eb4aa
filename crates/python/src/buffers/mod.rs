//! Buffers on devices and in pinned host memory.

mod context_methods;
mod copies;
pub(crate) mod cuda_buffer;
pub(crate) mod host_buffer;

use crate::registration::{PYARROW, Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.public(PYARROW, functions!(registration, host_buffer::new_host_buffer))
}
