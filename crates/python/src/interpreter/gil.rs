//! Python's global interpreter lock: who holds it, and what runs with it and without.

use super::later::run_later;
use arrow_cuda_driver::{holds_lock, holds_short_lock};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// Whether this thread holds the GIL; none when the interpreter cannot tell.
///
/// The function is not in the limited API, so it is looked up; every CPython so far exports it.
fn holds_gil() -> Option<bool> {
    type Check = unsafe extern "C" fn() -> c_int;
    static CHECK: OnceLock<Option<Check>> = OnceLock::new();
    let check = (*CHECK.get_or_init(|| {
        // SAFETY: a look-up by name, and the type that this function has had since Python 3.4.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_Check".as_ptr());
            std::mem::transmute::<*mut c_void, Option<Check>>(found)
        }
    }))?;
    // SAFETY: may be called on any thread, with or without the GIL.
    Some(unsafe { check() } == 1)
}

/// Runs work that may block with the GIL released, where this thread holds it.
pub(super) fn without_gil(work: &mut dyn FnMut()) {
    if holds_short_lock() {
        // `blocking` asserts that this does not happen.  To wait for the GIL now could last for ever.
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

/// What needs the GIL.
pub(super) type Task = Box<dyn FnOnce(Python<'_>) + Send>;

/// Runs a task that needs the GIL: at once where this thread has it and holds no lock of the layers
/// below, else on the main thread.  Waits for nothing.
///
/// `Python::attach` alone would not do: a function of this extension that calls pyarrow is
/// attached in PyO3's eyes, also while pyarrow has given the GIL up in its own way.
pub(super) fn with_gil(task: Task) {
    match holds_gil() == Some(true) && !holds_lock() {
        true => Python::attach(task),
        false => run_later(task),
    }
}
