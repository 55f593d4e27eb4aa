//! The classes and functions of `pyarrow.lib` that this extension uses.

use pyo3::prelude::*;
use pyo3::types::PyType;

#[derive(FromPyObject)]
#[pyo3(rename_all = "PascalCase")]
pub(crate) struct Lib {
    pub(crate) buffer: Py<PyType>,
    pub(crate) native_file: Py<PyType>,
    pub(crate) array: Py<PyType>,
    pub(crate) chunked_array: Py<PyType>,
    pub(crate) table: Py<PyType>,
    pub(crate) record_batch: Py<PyType>,
    pub(crate) message: Py<PyType>,
    pub(crate) schema: Py<PyType>,
    pub(crate) tensor: Py<PyType>,
    pub(crate) memory_pool: Py<PyType>,
    pub(crate) device: Py<PyType>,
    pub(crate) memory_manager: Py<PyType>,
    pub(crate) dictionary_memo: Py<PyType>,
    pub(crate) record_batch_reader: Py<PyType>,
    /// `as_buffer(object)`: a `pyarrow.Buffer` over anything that has bytes.
    #[pyo3(attribute("as_buffer"))]
    pub(crate) as_buffer: Py<PyAny>,
    /// `allocate_buffer(size, memory_pool, resizable)`.
    #[pyo3(attribute("allocate_buffer"))]
    pub(crate) allocate_buffer: Py<PyAny>,
    #[pyo3(attribute("default_cpu_memory_manager"))]
    pub(crate) default_cpu_memory_manager: Py<PyAny>,
}
