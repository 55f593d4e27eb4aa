//! How the layers below get along with the interpreter: destructors that block, releases that
//! fail, owners that are Python objects, and the interpreter's end.

use arrow_cuda_driver::{CudaError, begin_exit, may_release, set_blocking_runner, set_reporter};
use pyo3::exceptions::PyOSError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::RefCell;

/// Introduces the layers below to this interpreter.
pub(crate) fn start(py: Python<'_>) -> PyResult<()> {
    set_blocking_runner(without_gil);
    set_reporter(report);
    let at_exit = pyo3::types::PyCFunction::new_closure(py, None, None, |_, _| begin_exit())?;
    py.import("atexit")?.call_method1("register", (at_exit,))?;
    Ok(())
}

/// Runs work that may block with the GIL released, whether this thread holds it or not.
/// Destructors run on any thread, and C++ does not say whether Python called it.
fn without_gil(work: &mut dyn FnMut()) {
    // SAFETY: destructors stop releasing before the interpreter ends, so it is alive; the two
    // pairs of calls are nested.
    unsafe {
        let state = ffi::PyGILState_Ensure();
        let thread = ffi::PyEval_SaveThread();
        work();
        ffi::PyEval_RestoreThread(thread);
        ffi::PyGILState_Release(state);
    }
}

/// Runs work with the GIL held, whoever called.
///
/// `Python::attach` alone would not do: a function of this extension that calls pyarrow is
/// attached in PyO3's eyes, also while pyarrow has given the GIL up in its own way.
fn with_gil<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    // SAFETY: destructors stop before the interpreter ends, so it is alive.
    let state = unsafe { ffi::PyGILState_Ensure() };
    let outcome = Python::attach(work);
    // SAFETY: undoes the call above.
    unsafe { ffi::PyGILState_Release(state) };
    outcome
}

/// Tells `sys.unraisablehook` of a release that failed.
fn report(what: &str, error: &CudaError) {
    with_gil(|py| {
        // A destructor may run while an exception travels.
        let travelling = PyErr::take(py);
        PyOSError::new_err(format!("releasing {what} failed: {error}")).write_unraisable(py, None);
        if let Some(travelling) = travelling {
            travelling.restore(py);
        }
    });
}

/// A Python object that keeps foreign memory valid.
pub(crate) struct Owner(Option<Py<PyAny>>);

impl Owner {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(Some(object))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        if may_release() {
            with_gil(|_| release(object));
        } else {
            // The interpreter may be gone: then nobody misses the reference.
            std::mem::forget(object);
        }
    }
}

thread_local! {
    /// Owners whose release was asked for while another one was being released.
    static WAITING: RefCell<Option<Vec<Py<PyAny>>>> = const { RefCell::new(None) };
}

/// Releases an owner, and then those that its end leaves without a buffer, one after the other:
/// a long chain of views of views would exhaust the stack.
fn release(object: Py<PyAny>) {
    let is_outermost = WAITING.with_borrow_mut(|waiting| {
        let is_outermost = waiting.is_none();
        waiting.get_or_insert_default().push(object);
        is_outermost
    });
    if !is_outermost {
        return;
    }
    while let Some(next) = WAITING.with_borrow_mut(|waiting| waiting.as_mut()?.pop()) {
        drop(next);
    }
    WAITING.set(None);
}
