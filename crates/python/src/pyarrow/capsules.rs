//! The pointers in pyarrow's capsules, which the bridge uses to work with its objects.

use crate::interpreter::hang_if_ended;
use arrow_cuda_bridge::{Object, PyarrowApi};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyModule, PyType};
use std::ffi::{CStr, CString, c_void};

/// The pointers that the bridge needs.  Each of pyarrow's capsules names the C signature of its function;
/// another signature means another pyarrow than the bridge was written for.
pub(crate) fn pointers(
    lib: &Bound<'_, PyModule>,
    buffer: &Bound<'_, PyType>,
    native_file: &Bound<'_, PyType>,
    memory_pool: &Bound<'_, PyType>,
) -> PyResult<PyarrowApi> {
    let functions = lib.getattr("__pyx_capi__")?;
    let function = |name: String, signature: &str| {
        pointer(&functions.get_item(name)?, Some(&CString::new(signature)?))
    };
    let unwrap = |name: &str, class: &str| {
        let signature = format!("std::shared_ptr< arrow::{class}>  (PyObject *)");
        function(format!("pyarrow_unwrap_{name}"), &signature)
    };
    let wrap = |name: &str, class: &str| {
        let signature = format!("PyObject *(std::shared_ptr< arrow::{class}>  const &)");
        function(format!("pyarrow_wrap_{name}"), &signature)
    };
    Ok(PyarrowApi {
        unwrap_buffer: unwrap("buffer", "Buffer")?,
        wrap_buffer: wrap("buffer", "Buffer")?,
        unwrap_array: unwrap("array", "Array")?,
        wrap_array: wrap("array", "Array")?,
        unwrap_batch: unwrap("batch", "RecordBatch")?,
        wrap_batch: wrap("batch", "RecordBatch")?,
        unwrap_schema: unwrap("schema", "Schema")?,
        wrap_schema: wrap("schema", "Schema")?,
        unwrap_type: unwrap("data_type", "DataType")?,
        wrap_type: wrap("data_type", "DataType")?,
        unwrap_chunked_array: unwrap("chunked_array", "ChunkedArray")?,
        wrap_chunked_array: wrap("chunked_array", "ChunkedArray")?,
        unwrap_table: unwrap("table", "Table")?,
        wrap_table: wrap("table", "Table")?,
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
    type Restore = unsafe extern "C-unwind" fn(*mut ffi::PyThreadState);
    unsafe extern "C-unwind" {
        fn PyEval_RestoreThread(state: *mut ffi::PyThreadState);
    }
    let restore = std::hint::black_box(PyEval_RestoreThread as Restore);
    // SAFETY: as `PyarrowApi` is used: called with what `save_thread` gave, on the same thread.
    hang_if_ended(|| unsafe { restore(state.cast()) });
}

fn pointer(capsule: &Bound<'_, PyAny>, signature: Option<&CStr>) -> PyResult<*mut c_void> {
    let capsule = capsule.cast::<PyCapsule>()?;
    // SAFETY: the name is the capsule's own, and lives as long.
    let name = capsule.name()?.map(|name| unsafe { name.as_cstr() });
    if let Some(signature) = signature.filter(|_| name != signature) {
        return Err(PyImportError::new_err(format!(
            "this pyarrow has no function '{}'",
            signature.to_string_lossy()
        )));
    }
    Ok(capsule.pointer_checked(name)?.as_ptr())
}
