//! Guards of compiled properties, in place.
//!
//! Python reads such a property by a function of C in a table of the class, with a pointer beside it that the function
//! gets.  A guard puts its own function and pointer there.

use super::guard::{Call, Guard};
use super::places::word;
use crate::interpreter::hang_if_ended;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;

/// Where the descriptor of a property has its entry of the table, in words.
const ENTRY: usize = 5;

/// A getter of C.  The thread may be unwound in it: see `interpreter/daemon_threads.rs`.
type Getter = unsafe extern "C-unwind" fn(*mut ffi::PyObject, *mut c_void) -> *mut ffi::PyObject;

struct Guarded {
    guard: Py<Guard>,
    original: Getter,
    closure: *mut c_void,
}

/// Has a guard act when a property is read that C declares: one of the type `getset_descriptor`.
#[pyfunction(name = "_guard_property")]
pub(super) fn guard_property(property: &Bound<'_, PyAny>, guard: Py<Guard>) {
    // SAFETY: the descriptor of such a property, whose table stays; and the GIL is held.
    unsafe {
        let entry = (*word(property.as_ptr(), ENTRY)).cast::<ffi::PyGetSetDef>();
        let Some(original) = (*entry).get else { return };
        if original as usize == read as *const () as usize {
            return;
        }
        let original = std::mem::transmute::<ffi::getter, Getter>(original);
        let guarded = Guarded { guard, original, closure: (*entry).closure };
        (*entry).closure = Box::into_raw(Box::new(guarded)).cast();
        (*entry).get = Some(std::mem::transmute::<Getter, ffi::getter>(read));
    }
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
    // SAFETY: guaranteed by the caller, for another object of the class, too.
    let original = |object| unsafe { (guarded.original)(object, guarded.closure) };
    let outcome = Python::attach(|py| {
        // SAFETY: a live object, which the caller owns.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        match guarded.guard.get().call(py, &std::iter::once(object), None) {
            Ok(Call::With(used)) => {
                used.first().map(|object| hang_if_ended(|| original(object.as_ptr())))
            }
            Ok(_) => None,
            Err(error) => {
                error.restore(py);
                Some(std::ptr::null_mut())
            }
        }
    });
    outcome.unwrap_or_else(|| original(object))
}
