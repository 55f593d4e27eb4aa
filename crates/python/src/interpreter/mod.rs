//! Connects the Rust crates to the Python interpreter: destructors that need the GIL, reports of failed releases,
//! owners that are Python objects, and interpreter exit.
//!
//! Destructors run on any thread, also inside pyarrow functions that have released the GIL, and under locks of other
//! layers.  So a destructor never waits for the GIL.  If the thread holds the GIL and none of those locks, the work
//! runs at once; otherwise it runs on the main thread, a little later.

mod daemon_threads;
mod gil;
mod main_thread_queue;
mod owner;
mod reports;

pub(crate) use daemon_threads::{call_out, hang_if_ended};
pub(crate) use gil::check_first_interpreter;
pub(crate) use owner::Owner;

use arrow_cuda_driver::{
    begin_exit, is_forked_child, set_blocking_runner, set_interpreter_check, set_reporter,
};
use gil::{holds_gil, without_gil};
pub(crate) use gil::{with_exception_kept, with_gil, with_interpreter};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyList};

/// The writers that are open, as a `weakref.WeakSet`.
static WRITERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Registers this interpreter with the Rust crates.
pub(crate) fn start(py: Python<'_>) -> PyResult<()> {
    set_blocking_runner(without_gil);
    set_interpreter_check(|| holds_gil() == Some(true));
    set_reporter(reports::report);
    let weak_set = || py.import("weakref")?.call_method0("WeakSet").map(Bound::unbind);
    WRITERS.get_or_try_init(py, weak_set)?;
    let at_exit = PyCFunction::new_closure(py, None, None, |arguments, _| {
        if !is_forked_child() {
            flush_writers(arguments.py());
        }
        begin_exit();
    })?;
    py.import("atexit")?.call_method1("register", (at_exit,))?;
    Ok(())
}

/// Has a writer flushed when the interpreter ends while it is still open.
pub(crate) fn remember_writer(writer: &Bound<'_, PyAny>) -> PyResult<()> {
    match WRITERS.get(writer.py()) {
        Some(writers) => writers.bind(writer.py()).call_method1("add", (writer,)).map(drop),
        None => Ok(()),
    }
}

fn flush_writers(py: Python<'_>) {
    let Some(writers) = WRITERS.get(py) else { return };
    let Ok(writers) = py.get_type::<PyList>().call1((writers,)) else { return };
    let is_closed = |writer: &Bound<'_, PyAny>| {
        let closed = writer.getattr("closed").and_then(|closed| closed.is_truthy());
        closed.unwrap_or(true)
    };
    for writer in writers.try_iter().into_iter().flatten().flatten() {
        if !is_closed(&writer)
            && let Err(error) = writer.call_method0("flush")
            // A thread that has closed it meanwhile gets the failure itself.
            && !is_closed(&writer)
        {
            error.write_unraisable(py, Some(&writer));
        }
    }
}
