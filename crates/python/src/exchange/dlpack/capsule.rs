//! Capsules that hold a tensor: created for consumers, and taken from producers.

use arrow_cuda_numba_bridge::dlpack::Imported;
use arrow_cuda_numba_bridge::dlpack::abi::{DLManagedTensor, DLManagedTensorVersioned};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::ptr::NonNull;

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_LEGACY: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// A capsule that owns a tensor in the form of version 1.
pub(super) fn versioned(
    py: Python<'_>,
    tensor: NonNull<DLManagedTensorVersioned>,
) -> PyResult<Bound<'_, PyAny>> {
    capsule(py, tensor.cast(), VERSIONED, drop_versioned)
}

/// A capsule that owns a tensor in the form before version 1.
pub(super) fn legacy(
    py: Python<'_>,
    tensor: NonNull<DLManagedTensor>,
) -> PyResult<Bound<'_, PyAny>> {
    capsule(py, tensor.cast(), LEGACY, drop_legacy)
}

/// Takes the tensor out of a capsule, which is marked as used.
pub(super) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Imported> {
    let object = capsule.as_ptr();
    // SAFETY: a live capsule.  Its name identifies its content, and that no consumer has taken it
    // yet; once renamed, its destructor no longer frees it.
    unsafe {
        for (name, used, is_versioned) in
            [(VERSIONED, USED_VERSIONED, true), (LEGACY, USED_LEGACY, false)]
        {
            if ffi::PyCapsule_IsValid(object, name.as_ptr()) == 1 {
                let pointer = ffi::PyCapsule_GetPointer(object, name.as_ptr());
                let pointer = NonNull::new(pointer).ok_or_else(|| PyErr::fetch(capsule.py()))?;
                if ffi::PyCapsule_SetName(object, used.as_ptr()) != 0 {
                    return Err(PyErr::fetch(capsule.py()));
                }
                return Ok(match is_versioned {
                    true => Imported::versioned(pointer.cast()),
                    false => Imported::legacy(pointer.cast()),
                });
            }
            if ffi::PyCapsule_IsValid(object, used.as_ptr()) == 1 {
                return Err(PyValueError::new_err("the capsule's tensor was already consumed"));
            }
        }
    }
    Err(PyTypeError::new_err(format!("{} does not hold a DLPack tensor", capsule.repr()?)))
}

fn capsule<'py>(
    py: Python<'py>,
    tensor: NonNull<std::ffi::c_void>,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the name is static, and the destructor matches the capsule's content.
    unsafe {
        let capsule = ffi::PyCapsule_New(tensor.as_ptr(), name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule; with this name, no consumer has taken the tensor.
    unsafe {
        if let Some(tensor) = untaken(capsule, VERSIONED) {
            drop(Imported::versioned(tensor.cast()));
        }
    }
}

unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        if let Some(tensor) = untaken(capsule, LEGACY) {
            drop(Imported::legacy(tensor.cast()));
        }
    }
}

unsafe fn untaken(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<std::ffi::c_void>> {
    // SAFETY: guaranteed by the caller: a capsule that is being destroyed.
    unsafe {
        match ffi::PyCapsule_IsValid(capsule, name.as_ptr()) {
            1 => NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr())),
            _ => None,
        }
    }
}
