//! Calls of Python code from daemon threads, during which the interpreter may end.
//!
//! Before Python 3.14, a daemon thread that wants the GIL when the interpreter ends is ended by `pthread_exit`.
//! That unwinds the thread's stack, and aborts the process in the first frame that was compiled for calls which
//! return, as `PyO3`'s are for calls into Python.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Calls a callable, as `call1` does, but see `hang_if_ended`.
pub(crate) fn call_out<'py, A>(
    callable: &Bound<'py, PyAny>,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
{
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
    let arguments = arguments.into_pyobject(callable.py()).map_err(Into::into)?;
    // PyO3 declares this function as one that never unwinds, and the compiler has one declaration for a name.  A
    // call by a pointer that it cannot see through uses the pointer's type.
    let call = std::hint::black_box(PyObject_Call as Call);
    // SAFETY: the GIL is held, and the objects live during the call; the result is a new reference, or none and an
    // exception.
    unsafe {
        let result =
            hang_if_ended(|| call(callable.as_ptr(), arguments.as_ptr(), std::ptr::null_mut()));
        Bound::from_owned_ptr_or_err(callable.py(), result)
    }
}

/// Makes a call that may run Python code.  If Python ends the thread meanwhile, the thread waits here for ever,
/// without the GIL, as all such threads do from Python 3.14 on.
///
/// `call` must call a `C-unwind` function by a pointer: see `call_out`.
pub(crate) fn hang_if_ended<R>(call: impl FnOnce() -> R) -> R {
    let guard = Hang;
    let result = call();
    std::mem::forget(guard);
    result
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
