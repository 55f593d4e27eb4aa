//! Raw access to CPython structures, for fields and slots that the C API does not expose.
//!
//! Objects and types are read as arrays of pointer-sized words.  The layouts are those of Python 3.11 to 3.14.  For
//! a type with another layout, `found` raises an `ImportError`.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::c_void;

/// The place of a word in an object.
///
/// # Safety
///
/// The object has one there.
pub(super) unsafe fn word(object: *mut ffi::PyObject, index: usize) -> *mut *mut c_void {
    // SAFETY: guaranteed by the caller.
    unsafe { object.cast::<*mut c_void>().add(index) }
}

/// The place of a slot, if the slot's content is there.
///
/// # Safety
///
/// The place is inside a live object.
pub(super) unsafe fn found(
    class: &Bound<'_, PyType>,
    place: *mut *mut c_void,
    content: *mut c_void,
) -> PyResult<*mut *mut c_void> {
    // SAFETY: guaranteed by the caller.
    if unsafe { *place } == content {
        return Ok(place);
    }
    Err(PyImportError::new_err(format!(
        "{} is not laid out as the types of Python 3.11 to 3.14 are, so it cannot be guarded: use one of these \
         versions, or set PYARROW_CUDA_HOOK=0 to leave pyarrow as it is",
        class.fully_qualified_name()?
    )))
}

/// The classes that extend a class, at any distance.
pub(super) fn heirs<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyType>>> {
    let mut all = Vec::new();
    for heir in class.call_method0("__subclasses__")?.try_iter()? {
        let heir = heir?.cast_into::<PyType>()?;
        all.extend(heirs(&heir)?);
        all.push(heir);
    }
    Ok(all)
}

unsafe extern "C" {
    /// Not a part of the limited API, but exported by Python 3.11 to 3.14 with this signature: `ci/abi3.py` knows it.
    pub(super) fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}
