//! Calls of Python code that take long enough for the interpreter to end meanwhile.
//!
//! Before Python 3.14, a daemon thread that wants the GIL when the interpreter ends is ended by `pthread_exit`.
//! That unwinds the thread's stack, and aborts the process in the first frame that was compiled for calls which
//! return, as `PyO3`'s are for calls into Python.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Calls a callable, as `call1` does.  A thread that Python ends meanwhile waits here for ever, without the
/// GIL, as all such threads do from Python 3.14 on.
pub(crate) fn call_out<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    call_out_with(callable, &arguments.into_pyobject(callable.py())?, None)
}

/// The same with named arguments, too.
pub(crate) fn call_out_with<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    type Call = unsafe extern "C-unwind" fn(
        *mut ffi::PyObject,
        *mut ffi::PyObject,
        *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    unsafe extern "C-unwind" {
        fn PyObject_Call(
            callable: *mut ffi::PyObject,
            arguments: *mut ffi::PyObject,
            keywords: *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
    }
    // PyO3 declares this function, too, as one that never unwinds.  The compiler would know that here.
    let call = std::hint::black_box(PyObject_Call as Call);
    let keywords = keywords.map_or(std::ptr::null_mut(), Bound::as_ptr);
    let guard = Hang;
    // SAFETY: the GIL is held, and the objects live during the call.
    let result = unsafe { call(callable.as_ptr(), arguments.as_ptr(), keywords) };
    std::mem::forget(guard);
    // SAFETY: a new reference, or none and an exception.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), result) }
}

/// Dropped only while the stack is unwound.
struct Hang;

impl Drop for Hang {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}
