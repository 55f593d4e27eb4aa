//! The classes of this extension that extend pyarrow's, created once at the start.

use crate::pyarrow::not_started;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

pub(crate) struct Classes {
    pub(crate) cuda_buffer: Py<PyType>,
    pub(crate) host_buffer: Py<PyType>,
    pub(crate) buffer_reader: Py<PyType>,
    pub(crate) buffer_writer: Py<PyType>,
    pub(crate) pinned_memory_pool: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

pub(crate) fn start(
    py: Python<'_>,
    make: impl FnOnce() -> PyResult<Classes>,
) -> PyResult<&'static Classes> {
    CLASSES.get_or_try_init(py, make)
}

pub(crate) fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    CLASSES.get(py).ok_or_else(not_started)
}
