//! Buffers on devices and in pinned host memory.

mod context_methods;
mod copies;
pub(crate) mod cuda_buffer;
pub(crate) mod host_buffer;

use crate::registration::{PYARROW, private, public};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    public!(module, PYARROW, host_buffer::new_host_buffer)?;
    private!(module, copies::writing_options)
}
