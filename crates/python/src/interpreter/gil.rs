//! Python's global interpreter lock: whether this thread holds it, and work that runs with it or without it.
//! Also refuses further interpreters (subinterpreters).

use super::daemon_threads::hang_if_ended;
use super::main_thread_queue::{Task, run_later};
use arrow_cuda_driver::{holds_lock, holds_short_lock};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

/// Whether this thread holds the GIL; `None` if the interpreter cannot tell.
///
/// `PyGILState_Check` is not enough: once there has been a second interpreter in the process, it returns true
/// on every thread.  So this function makes the other check of `PyGILState_Check`: whether the current thread
/// state is this thread's.
pub(super) fn holds_gil() -> Option<bool> {
    type Running = unsafe extern "C" fn() -> *mut ffi::PyThreadState;
    static RUNNING: OnceLock<Option<Running>> = OnceLock::new();
    let running = (*RUNNING.get_or_init(|| {
        // Not in the limited API, so it is looked up; every CPython so far exports one of them.
        let names = [c"PyThreadState_GetUnchecked", c"_PyThreadState_UncheckedGet"];
        let find = |name: &CStr| {
            // SAFETY: a look-up by name, and the type that both functions have.
            unsafe {
                let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
                std::mem::transmute::<*mut c_void, Option<Running>>(found)
            }
        };
        names.into_iter().find_map(find)
    }))?;
    // SAFETY: both may be called on any thread, with or without the GIL.
    let (running, ours) = unsafe { (running(), ffi::PyGILState_GetThisThreadState()) };
    Some(!running.is_null() && running == ours)
}

/// Runs work that may block with the GIL released, where this thread holds it.
pub(super) fn without_gil(work: &mut dyn FnMut()) {
    if holds_short_lock() {
        // `blocking` asserts that this does not happen.  A wait for the GIL could last for ever: its holder may
        // wait for that lock.
        return work();
    }
    match holds_gil() {
        Some(false) => work(),
        Some(true) => {
            // SAFETY: the GIL is held, and taken back on the same thread.
            unsafe {
                let thread = ffi::PyEval_SaveThread();
                work();
                ffi::PyEval_RestoreThread(thread);
            }
        }
        None => {
            // SAFETY: the two pairs of calls are nested.
            unsafe {
                let state = ffi::PyGILState_Ensure();
                let thread = ffi::PyEval_SaveThread();
                work();
                ffi::PyEval_RestoreThread(thread);
                ffi::PyGILState_Release(state);
            }
        }
    }
}

/// Runs a task that needs the GIL, and waits for nothing.  The task runs at once if this thread has the GIL and
/// holds no lock of the crates below.  Otherwise the main thread runs it later.
///
/// `Python::attach` alone is not enough.  When a function of this extension calls pyarrow, pyarrow may release
/// the GIL without PyO3, which then still regards the thread as attached.
pub(crate) fn with_gil(task: Task) {
    match holds_gil() == Some(true) && !holds_lock() {
        true => Python::attach(task),
        false => run_later(task),
    }
}

/// Runs work that needs the GIL, whether this thread has it or not.  The thread may wait for the GIL, so it
/// must hold no lock of the crates below.
///
/// `Python::attach` alone is not enough, for the same reason as in [`with_gil`].
pub(crate) fn with_interpreter<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    type Ensure = unsafe extern "C-unwind" fn() -> ffi::PyGILState_STATE;
    unsafe extern "C-unwind" {
        fn PyGILState_Ensure() -> ffi::PyGILState_STATE;
    }
    struct Ensured(ffi::PyGILState_STATE);
    impl Drop for Ensured {
        fn drop(&mut self) {
            // SAFETY: ensured on this thread, and given back once.
            unsafe { ffi::PyGILState_Release(self.0) };
        }
    }
    let ensure = std::hint::black_box(PyGILState_Ensure as Ensure);
    // SAFETY: may be called on any thread while there is an interpreter.
    let _ensured = Ensured(hang_if_ended(|| unsafe { ensure() }));
    Python::attach(work)
}

/// Runs Python code that would fail while an exception is set, and sets that exception again afterwards.  A
/// destructor, for example, may run while an exception propagates.
pub(crate) fn with_exception_kept<T>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    let raised = PyErr::take(py);
    let outcome = work();
    if let Some(raised) = raised {
        raised.restore(py);
    }
    outcome
}

/// Refuses all interpreters of the process but the first: the classes here are made once, from those of the
/// pyarrow that the first one has imported.
pub(crate) fn check_first_interpreter(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the GIL is held, so there is an interpreter.
    match unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) } {
        0 => Ok(()),
        _ => Err(PyImportError::new_err(
            "pyarrow_cuda_compat works in the main interpreter of a process only, as pyarrow does",
        )),
    }
}
