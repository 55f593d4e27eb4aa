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

unsafe extern "C" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    pub(super) fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}
