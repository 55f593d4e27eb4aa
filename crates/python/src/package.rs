//! Functions of the Python package that methods of the extension's classes call.
//!
//! `pyarrow_cuda_compat/_load.py` passes them to `_start`; this extension does not import the
//! package.

use crate::pyarrow::not_started;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The functions, by the names under which the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PackageFunctions {
    pub(crate) context_from_numba: Py<PyAny>,
    pub(crate) context_to_numba: Py<PyAny>,
    pub(crate) buffer_from_numba: Py<PyAny>,
    pub(crate) buffer_to_numba: Py<PyAny>,
    pub(crate) buffer_from_file: Py<PyAny>,
    pub(crate) buffer_to_file: Py<PyAny>,
    pub(crate) table_from_file: Py<PyAny>,
    pub(crate) reduce_buffer: Py<PyAny>,
    pub(crate) array_from_arrow: Py<PyAny>,
    pub(crate) array_to_arrow: Py<PyAny>,
    pub(crate) reduce_array: Py<PyAny>,
    pub(crate) export_array: Py<PyAny>,
    pub(crate) begin_call: Py<PyAny>,
    pub(crate) end_call: Py<PyAny>,
}

static FUNCTIONS: PyOnceLock<PackageFunctions> = PyOnceLock::new();

/// Keeps the functions that the package has passed first.
pub(crate) fn start(py: Python<'_>, functions: PackageFunctions) {
    FUNCTIONS.get_or_init(py, || functions);
}

pub(crate) fn package(py: Python<'_>) -> PyResult<&'static PackageFunctions> {
    FUNCTIONS.get(py).ok_or_else(not_started)
}
