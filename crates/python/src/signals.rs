//! Waits and copies that Ctrl-C can end.

use crate::errors::OrRaise;
use arrow_cuda_context::{Context, Pending};
use arrow_cuda_driver::{CudaResult, Interruption, interruptible};
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};

thread_local! {
    /// The exception that a signal handler has raised during a wait.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Waits without the GIL for queued work, as `py.detach` does.  During long waits, the main thread handles
/// signals, and an exception of a handler, such as KeyboardInterrupt, ends the wait.
///
/// Handlers run any Python code, so `wait` uses no memory that such code could take away.
pub(crate) fn wait_for_signals<T: Send>(
    py: Python<'_>,
    wait: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if !is_main_thread() {
        return Ok(py.detach(wait));
    }
    match py.detach(|| interruptible(Interruption::Waits(handle_signals), wait)) {
        Some(outcome) => Ok(outcome),
        None => Err(RAISED.take().unwrap_or_else(|| PyErr::fetch(py))),
    }
}

/// Makes a copy that may have to wait for the work that is queued in a context.  The main thread handles signals
/// during long waits, as above, and Ctrl-C ends long copies.
///
/// No Python code runs while a copy is made, but for what `attempt` calls with `uninterrupted`.  A copy that finds
/// the device busy for long ends, and is attempted again once the device is done; so `attempt` looks up all memory
/// anew.
pub(crate) fn copy_for_signals<T>(
    py: Python<'_>,
    context: &Context,
    attempt: impl FnMut() -> PyResult<T>,
) -> PyResult<T> {
    copy_behind(py, || context.wait_for(&Pending::DefaultStream), attempt)
}

/// As [`copy_for_signals`], for a copy after what `wait` waits for.
pub(crate) fn copy_behind<T>(
    py: Python<'_>,
    wait: impl Fn() -> CudaResult<()> + Sync,
    mut attempt: impl FnMut() -> PyResult<T>,
) -> PyResult<T> {
    if !is_main_thread() {
        return attempt();
    }
    for may_end in [Interruption::Copies, Interruption::Pieces] {
        if let Some(outcome) = interruptible(may_end(is_interrupted), &mut attempt) {
            return outcome;
        }
        py.check_signals()?;
        wait_for_signals(py, &wait)?.or_raise(py)?;
    }
    // A handler for Ctrl-C that raises nothing wants the program to go on.
    attempt()
}

/// Runs the handlers of the signals that have arrived.  Returns whether one has raised an exception.
fn handle_signals() -> bool {
    Python::attach(|py| {
        let handled = py.check_signals();
        handled.map_err(|raised| RAISED.set(Some(raised))).is_err()
    })
}

/// Whether Ctrl-C waits to be handled.  Runs no handler.
fn is_interrupted() -> bool {
    Python::attach(|_| {
        // SAFETY: the GIL is held.
        unsafe {
            let is_interrupted = ffi::PyOS_InterruptOccurred() != 0;
            if is_interrupted {
                ffi::PyErr_SetInterrupt(); // the question has taken it back
            }
            is_interrupted
        }
    })
}

/// Whether this thread may run handlers: the first one of the process, which is Python's main thread.
fn is_main_thread() -> bool {
    if let Some(is_main) = IS_MAIN.get() {
        return is_main;
    }
    // SAFETY: neither call takes a pointer.
    let is_main = unsafe { libc::gettid() == libc::getpid() };
    IS_MAIN.set(Some(is_main));
    is_main
}
