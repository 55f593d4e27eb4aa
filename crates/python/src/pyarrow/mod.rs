//! The functions and classes of the imported pyarrow, fetched and checked once.

mod capsules;
pub(crate) mod classes;
pub(crate) mod cython_subclass;
pub(crate) mod from_pyarrow;
mod members;
pub(crate) mod to_pyarrow;

use arrow_cuda_bridge::Bridge;
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::path::Path;

/// The parts of the imported pyarrow that this extension works with.
pub(crate) struct Pyarrow {
    pub(crate) bridge: Bridge,
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
    pub(crate) batch_reader: Py<PyType>,
    /// `as_buffer(object)`: a `pyarrow.Buffer` over anything that has bytes.
    pub(crate) as_buffer: Py<PyAny>,
    /// `allocate_buffer(size, memory_pool, resizable)`.
    pub(crate) allocate_buffer: Py<PyAny>,
}

static PYARROW: PyOnceLock<Pyarrow> = PyOnceLock::new();

/// Loads the bridge for the imported pyarrow.
pub(crate) fn start(py: Python<'_>, bridge: &Path) -> PyResult<&'static Pyarrow> {
    PYARROW.get_or_try_init(py, || load(py, bridge))
}

fn load(py: Python<'_>, bridge: &Path) -> PyResult<Pyarrow> {
    let lib = py.import("pyarrow.lib")?;
    let class = |name: &str| -> PyResult<Py<PyType>> {
        Ok(lib.getattr(name)?.cast_into::<PyType>()?.unbind())
    };
    // With the size of its objects in the versions that the bridge was written for.
    let sized = |name: &str, size: usize| -> PyResult<Py<PyType>> {
        let class = class(name)?;
        check_size(class.bind(py), size)?;
        Ok(class)
    };
    let buffer = sized("Buffer", 64)?;
    let native_file = sized("NativeFile", 104)?;
    let dictionary_memo = sized("DictionaryMemo", 48)?;
    let batch_reader = sized("RecordBatchReader", 40)?;
    let device = sized("Device", 48)?;
    let memory_manager = sized("MemoryManager", 48)?;
    let memory_pool = sized("MemoryPool", 40)?;
    let pointers =
        capsules::pointers(&lib, buffer.bind(py), native_file.bind(py), memory_pool.bind(py))?;
    // SAFETY: the pointers are the imported pyarrow's, and the Python side picks the library by
    // its release, of which the major version is checked here again.
    let bridge = unsafe { Bridge::load(bridge, pointers) }
        .map_err(|fault| PyImportError::new_err(fault.text))?;
    let major: i32 = lib.getattr("cpp_version_info")?.getattr("major")?.extract()?;
    if bridge.arrow_major() != major {
        return Err(PyImportError::new_err(format!(
            "the Arrow bridge was built for pyarrow {}, but pyarrow {major} is imported",
            bridge.arrow_major()
        )));
    }
    Ok(Pyarrow {
        bridge,
        buffer,
        native_file,
        array: class("Array")?,
        chunked_array: class("ChunkedArray")?,
        table: class("Table")?,
        record_batch: class("RecordBatch")?,
        message: class("Message")?,
        schema: class("Schema")?,
        tensor: class("Tensor")?,
        memory_pool,
        device,
        memory_manager,
        dictionary_memo,
        batch_reader,
        as_buffer: lib.getattr("as_buffer")?.unbind(),
        allocate_buffer: lib.getattr("allocate_buffer")?.unbind(),
    })
}

fn check_size(class: &Bound<'_, PyType>, expected: usize) -> PyResult<()> {
    let size: usize = class.getattr("__basicsize__")?.extract()?;
    if size == expected {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "{} objects have {size} bytes, not {expected}: this pyarrow is not laid out as the \
         supported ones are",
        class.fully_qualified_name()?
    )))
}

pub(crate) fn pyarrow(py: Python<'_>) -> PyResult<&'static Pyarrow> {
    PYARROW.get(py).ok_or_else(not_started)
}

pub(crate) fn not_started() -> PyErr {
    PyRuntimeError::new_err("import pyarrow_cuda_compat, not its native module alone")
}
