//! Guards compiled properties in place.
//!
//! Python reads such a property through a C function in a table of the class.  The function gets a pointer that
//! stands beside it in the table.  A guard puts its own function and pointer there.

use super::cpython_slots::word;
use super::guard::{Call, Guard};
use crate::interpreter::{call_out, hang_if_ended};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;

/// Where the descriptor of a property has its entry of the table, in words.
const ENTRY: usize = 5;

/// A getter of C.  The thread may be unwound in it: see `interpreter/daemon_threads.rs`.
type Getter = unsafe extern "C-unwind" fn(*mut ffi::PyObject, *mut c_void) -> *mut ffi::PyObject;

struct Guarded {
    guard: Py<Guard>,
    unguarded: Py<UnguardedProperty>,
}

/// Reads a guarded property without its guard.
#[pyclass(frozen, module = "pyarrow_cuda_compat._native", name = "_UnguardedProperty")]
struct UnguardedProperty {
    getter: Getter,
    closure: *mut c_void,
}

// SAFETY: a function and its pointer, which may be used from every thread that has the GIL.
unsafe impl Send for UnguardedProperty {}
// SAFETY: as above.
unsafe impl Sync for UnguardedProperty {}

#[pymethods]
impl UnguardedProperty {
    fn __call__<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the handlers pass the object that they get; the result is a new reference, or null and an exception.
        unsafe {
            let value = hang_if_ended(|| (self.getter)(object.as_ptr(), self.closure));
            Bound::from_owned_ptr_or_err(object.py(), value)
        }
    }
}

/// Has a guard act when a property is read that C declares: one of the type `getset_descriptor`.
#[pyfunction(name = "_guard_property")]
pub(super) fn guard_property(property: &Bound<'_, PyAny>, guard: Py<Guard>) -> PyResult<()> {
    // SAFETY: the descriptor of such a property, whose table stays; and the GIL is held.
    unsafe {
        let entry = (*word(property.as_ptr(), ENTRY)).cast::<ffi::PyGetSetDef>();
        let Some(original) = (*entry).get else { return Ok(()) };
        if original as usize == read as *const () as usize {
            return Ok(());
        }
        let getter = std::mem::transmute::<ffi::getter, Getter>(original);
        let unguarded = UnguardedProperty { getter, closure: (*entry).closure };
        let unguarded = Py::new(property.py(), unguarded)?;
        (*entry).closure = Box::into_raw(Box::new(Guarded { guard, unguarded })).cast();
        (*entry).get = Some(std::mem::transmute::<Getter, ffi::getter>(read));
    }
    Ok(())
}

/// # Safety
///
/// As Python reads a property, with the pointer beside it.
unsafe extern "C-unwind" fn read(
    object: *mut ffi::PyObject,
    closure: *mut c_void,
) -> *mut ffi::PyObject {
    // SAFETY: put there with this function, and never freed.
    let guarded = unsafe { &*closure.cast::<Guarded>() };
    let unguarded = guarded.unguarded.get();
    if guarded.guard.get().is_for_refusals() {
        // SAFETY: guaranteed by the caller.
        return unsafe {
            guarded
                .guard
                .get()
                .answer_of((unguarded.getter)(object, unguarded.closure), &raw const object)
        };
    }
    let changed = Python::attach(|py| {
        // SAFETY: a live object, which the caller owns.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        let value = match guarded.guard.get().call(py, &std::iter::once(object.clone()), None) {
            Ok(Call::Unchanged | Call::With(_) | Call::Trusting(_)) => return None,
            Ok(Call::Answered(answer)) => Ok(answer),
            Ok(Call::Instead(handler) | Call::Computed(handler, ..)) => {
                call_out(&handler, (guarded.unguarded.bind(py), object))
            }
            Err(error) => Err(error),
        };
        match value {
            Ok(value) => Some(value.into_ptr()),
            Err(error) => {
                error.restore(py);
                Some(std::ptr::null_mut())
            }
        }
    });
    // SAFETY: guaranteed by the caller.  This frame drops nothing meanwhile.
    changed.unwrap_or_else(|| unsafe { (unguarded.getter)(object, unguarded.closure) })
}
