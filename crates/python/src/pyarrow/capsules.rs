//! The pointers in pyarrow's capsules, which the bridge uses to work with its objects.

use super::lib_members::Lib;
use crate::interpreter::hang_if_ended;
use arrow_cuda_bridge::{Conversion, Object, PyarrowApi};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyModule, PyType};
use std::ffi::{CStr, CString, c_void};

/// The pointers that the bridge needs.  Each capsule names the C signature of its function;
/// another signature means another pyarrow than the bridge was written for.
pub(crate) fn pointers(module: &Bound<'_, PyModule>, lib: &Lib) -> PyResult<PyarrowApi> {
    let functions = module.getattr("__pyx_capi__")?;
    let vtable = |class: &Py<PyType>| -> PyResult<_> {
        Ok(pointer(&class.bind(module.py()).getattr("__pyx_vtable__")?, None)?.cast())
    };
    let function = |name: String, signature: &str| {
        pointer(&functions.get_item(name)?, Some(&CString::new(signature)?))
    };
    let conversion = |name: &str, class: &str| -> PyResult<Conversion> {
        let unwrap = format!("std::shared_ptr< arrow::{class}>  (PyObject *)");
        let wrap = format!("PyObject *(std::shared_ptr< arrow::{class}>  const &)");
        Ok(Conversion {
            unwrap: function(format!("pyarrow_unwrap_{name}"), &unwrap)?,
            wrap: function(format!("pyarrow_wrap_{name}"), &wrap)?,
        })
    };
    Ok(PyarrowApi {
        buffer: conversion("buffer", "Buffer")?,
        array: conversion("array", "Array")?,
        batch: conversion("batch", "RecordBatch")?,
        schema: conversion("schema", "Schema")?,
        data_type: conversion("data_type", "DataType")?,
        chunked_array: conversion("chunked_array", "ChunkedArray")?,
        table: conversion("table", "Table")?,
        buffer_vtable: vtable(&lib.buffer)?,
        native_file_vtable: vtable(&lib.native_file)?,
        memory_pool_vtable: vtable(&lib.memory_pool)?,
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
