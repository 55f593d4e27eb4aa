//! The pointers in pyarrow's capsules, which the bridge uses to work with its objects.

use arrow_cuda_bridge::{Object, PyarrowApi};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::ffi::{CStr, c_void};

/// The pointers that the bridge needs.  A capsule of pyarrow's names the C signature of what it
/// holds; another signature means another pyarrow than the bridge was written for.
pub(crate) fn pointers(
    lib: &Bound<'_, PyModule>,
    buffer: &Bound<'_, PyType>,
    native_file: &Bound<'_, PyType>,
    memory_pool: &Bound<'_, PyType>,
) -> PyResult<PyarrowApi> {
    let functions = lib.getattr("__pyx_capi__")?;
    let function =
        |name: &str, signature: &CStr| pointer(&functions.get_item(name)?, Some(signature));
    Ok(PyarrowApi {
        unwrap_buffer: function(
            "pyarrow_unwrap_buffer",
            c"std::shared_ptr< arrow::Buffer>  (PyObject *)",
        )?,
        wrap_buffer: function(
            "pyarrow_wrap_buffer",
            c"PyObject *(std::shared_ptr< arrow::Buffer>  const &)",
        )?,
        unwrap_array: function(
            "pyarrow_unwrap_array",
            c"std::shared_ptr< arrow::Array>  (PyObject *)",
        )?,
        wrap_array: function(
            "pyarrow_wrap_array",
            c"PyObject *(std::shared_ptr< arrow::Array>  const &)",
        )?,
        unwrap_batch: function(
            "pyarrow_unwrap_batch",
            c"std::shared_ptr< arrow::RecordBatch>  (PyObject *)",
        )?,
        wrap_batch: function(
            "pyarrow_wrap_batch",
            c"PyObject *(std::shared_ptr< arrow::RecordBatch>  const &)",
        )?,
        unwrap_schema: function(
            "pyarrow_unwrap_schema",
            c"std::shared_ptr< arrow::Schema>  (PyObject *)",
        )?,
        wrap_schema: function(
            "pyarrow_wrap_schema",
            c"PyObject *(std::shared_ptr< arrow::Schema>  const &)",
        )?,
        unwrap_type: function(
            "pyarrow_unwrap_data_type",
            c"std::shared_ptr< arrow::DataType>  (PyObject *)",
        )?,
        wrap_type: function(
            "pyarrow_wrap_data_type",
            c"PyObject *(std::shared_ptr< arrow::DataType>  const &)",
        )?,
        unwrap_chunked_array: function(
            "pyarrow_unwrap_chunked_array",
            c"std::shared_ptr< arrow::ChunkedArray>  (PyObject *)",
        )?,
        wrap_chunked_array: function(
            "pyarrow_wrap_chunked_array",
            c"PyObject *(std::shared_ptr< arrow::ChunkedArray>  const &)",
        )?,
        unwrap_table: function(
            "pyarrow_unwrap_table",
            c"std::shared_ptr< arrow::Table>  (PyObject *)",
        )?,
        wrap_table: function(
            "pyarrow_wrap_table",
            c"PyObject *(std::shared_ptr< arrow::Table>  const &)",
        )?,
        buffer_vtable: pointer(&buffer.getattr("__pyx_vtable__")?, None)?.cast(),
        native_file_vtable: pointer(&native_file.getattr("__pyx_vtable__")?, None)?.cast(),
        memory_pool_vtable: pointer(&memory_pool.getattr("__pyx_vtable__")?, None)?.cast(),
        decref,
        save_thread,
        restore_thread,
    })
}

unsafe extern "C" fn decref(object: Object) {
    // SAFETY: as `PyarrowApi` is used: a reference of its own, with the GIL held.
    unsafe { ffi::Py_DecRef(object.cast()) };
}

unsafe extern "C" fn save_thread() -> *mut c_void {
    // SAFETY: as `PyarrowApi` is used: called with the GIL held.
    unsafe { ffi::PyEval_SaveThread().cast() }
}

unsafe extern "C" fn restore_thread(state: *mut c_void) {
    // SAFETY: as `PyarrowApi` is used: called with what `save_thread` gave, on the same thread.
    unsafe { ffi::PyEval_RestoreThread(state.cast()) };
}

fn pointer(capsule: &Bound<'_, PyAny>, signature: Option<&CStr>) -> PyResult<*mut c_void> {
    // SAFETY: both functions check that the object is a capsule; the name is the capsule's own.
    unsafe {
        let name = ffi::PyCapsule_GetName(capsule.as_ptr());
        if let Some(error) = PyErr::take(capsule.py()) {
            return Err(error);
        }
        if let Some(signature) = signature
            && (name.is_null() || CStr::from_ptr(name) != signature)
        {
            return Err(PyImportError::new_err(format!(
                "this pyarrow has no function '{}'",
                signature.to_string_lossy()
            )));
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name);
        if pointer.is_null() { Err(PyErr::fetch(capsule.py())) } else { Ok(pointer) }
    }
}
