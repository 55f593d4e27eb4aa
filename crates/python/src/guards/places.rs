//! The words of an object or type in Python, where Python has no function that reads or writes them.

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
