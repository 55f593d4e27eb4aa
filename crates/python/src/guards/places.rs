//! Words of Python's objects and types, which have no functions to read or write them.

use pyo3::ffi;
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
