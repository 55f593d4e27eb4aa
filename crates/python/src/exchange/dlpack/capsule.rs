//! Capsules that hold a tensor: created for consumers, and taken from producers.

use arrow_cuda_numba_bridge::dlpack::Imported;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// A form that tensors have in capsules.
pub(super) struct Form {
    name: &'static CStr,
    /// The name of a capsule whose tensor a consumer has taken.
    used: &'static CStr,
    /// The tensor of a capsule of that name.
    import: unsafe fn(NonNull<c_void>) -> Imported,
}

/// The capsule of version 1: a `DLManagedTensorVersioned`.
pub(super) static VERSIONED: Form = Form {
    name: c"dltensor_versioned",
    used: c"used_dltensor_versioned",
    // SAFETY: the name says what is there.
    import: |tensor| unsafe { Imported::versioned(tensor.cast()) },
};
/// The capsule before version 1: a `DLManagedTensor`.
pub(super) static LEGACY: Form = Form {
    name: c"dltensor",
    used: c"used_dltensor",
    // SAFETY: as above.
    import: |tensor| unsafe { Imported::legacy(tensor.cast()) },
};

/// A capsule that owns a tensor in a form.
pub(super) fn owning<'py>(
    py: Python<'py>,
    tensor: NonNull<c_void>,
    form: &'static Form,
) -> PyResult<Bound<'py, PyAny>> {
    let drop_it = Some(drop_untaken as ffi::PyCapsule_Destructor);
    // SAFETY: the name tells the destructor what the capsule holds.
    let capsule =
        unsafe { PyCapsule::new_with_pointer_and_destructor(py, tensor, form.name, drop_it) };
    capsule.map(Bound::into_any)
}

/// Takes the tensor out of a capsule, which is marked as used.
pub(super) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Imported> {
    for form in [&VERSIONED, &LEGACY] {
        if capsule.is_valid_checked(Some(form.name)) {
            let pointer = capsule.pointer_checked(Some(form.name))?;
            // SAFETY: a live capsule.  Its name identifies its content, and that no consumer has taken it
            // yet; once renamed, its destructor no longer frees it.
            unsafe {
                if ffi::PyCapsule_SetName(capsule.as_ptr(), form.used.as_ptr()) != 0 {
                    return Err(PyErr::fetch(capsule.py()));
                }
                return Ok((form.import)(pointer));
            }
        }
        if capsule.is_valid_checked(Some(form.used)) {
            return Err(PyValueError::new_err("the capsule's tensor was already consumed"));
        }
    }
    Err(PyTypeError::new_err(format!("{} does not hold a DLPack tensor", capsule.repr()?)))
}

unsafe extern "C" fn drop_untaken(capsule: *mut ffi::PyObject) {
    for form in [&VERSIONED, &LEGACY] {
        // SAFETY: Python calls this with the capsule; with this name, no consumer has taken the tensor.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule, form.name.as_ptr()) == 1 {
                let tensor = ffi::PyCapsule_GetPointer(capsule, form.name.as_ptr());
                drop(NonNull::new(tensor).map(|tensor| (form.import)(tensor)));
            }
        }
    }
}
