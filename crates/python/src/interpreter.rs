//! Connects the layers below to the interpreter: destructors that block, releases that fail, owners
//! that are Python objects, and interpreter exit.
//!
//! Destructors run on any thread, also inside pyarrow functions that have released the GIL, and
//! under locks of other layers.  So a destructor does not wait for the GIL while the main thread
//! can take its work: the work runs at once if the thread holds the GIL, and otherwise on the main
//! thread, a little later.

use arrow_cuda_driver::{
    CudaError, begin_exit, is_exiting, is_forked_child, set_blocking_runner, set_reporter,
};
use pyo3::exceptions::PyOSError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyList};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// The writers that are open, as a `weakref.WeakSet`.
static WRITERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Introduces the layers below to this interpreter.
pub(crate) fn start(py: Python<'_>) -> PyResult<()> {
    set_blocking_runner(without_gil);
    set_reporter(report);
    WRITERS.get_or_try_init(py, || Ok::<_, PyErr>(weak_set(py)?.unbind()))?;
    let at_exit = PyCFunction::new_closure(py, None, None, |arguments, _| {
        if !is_forked_child() {
            flush_writers(arguments.py());
        }
        begin_exit();
    })?;
    py.import("atexit")?.call_method1("register", (at_exit,))?;
    Ok(())
}

fn weak_set(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("weakref")?.call_method0("WeakSet")
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
    for writer in writers.try_iter().into_iter().flatten().flatten() {
        let is_closed = writer.getattr("closed").and_then(|closed| closed.is_truthy());
        if let Ok(false) = is_closed
            && let Err(error) = writer.call_method0("flush")
        {
            error.write_unraisable(py, Some(&writer));
        }
    }
}

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
fn without_gil(work: &mut dyn FnMut()) {
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

type Task = Box<dyn FnOnce(Python<'_>) + Send>;

/// Runs a task that needs the GIL: at once where this thread holds it, else on the main thread.
///
/// `Python::attach` alone would not do: a function of this extension that calls pyarrow is
/// attached in PyO3's eyes, also while pyarrow has given the GIL up in its own way.
fn with_gil(task: Task) {
    extern "C" fn run(task: *mut c_void) -> c_int {
        // SAFETY: the box that was leaked below, once.
        let task = unsafe { Box::from_raw(task.cast::<Task>()) };
        Python::attach(task);
        0
    }
    if holds_gil() == Some(true) {
        return Python::attach(task);
    }
    let task = Box::into_raw(Box::new(task)).cast::<c_void>();
    // SAFETY: may be called without the GIL.
    if unsafe { ffi::Py_AddPendingCall(Some(run), task) } != 0 {
        // Too many releases are queued already, so this thread waits for the GIL.
        // SAFETY: the pair of calls is nested; the task was not taken over.
        unsafe {
            let state = ffi::PyGILState_Ensure();
            run(task);
            ffi::PyGILState_Release(state);
        }
    }
}

/// Tells `sys.unraisablehook` of a release that failed.
fn report(what: &str, error: &CudaError) {
    let text = format!("releasing {what} failed: {error}");
    with_gil(Box::new(|py| {
        // A destructor may run while an exception is being raised.
        let raised = PyErr::take(py);
        PyOSError::new_err(text).write_unraisable(py, None);
        if let Some(raised) = raised {
            raised.restore(py);
        }
    }));
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
        if is_exiting() {
            // If the interpreter is gone, the reference no longer matters.
            std::mem::forget(object);
        } else {
            with_gil(Box::new(|py| release(py, object)));
        }
    }
}

/// How many owners may be released within each other.  A longer chain of views of views would
/// exhaust the stack.
const DEEPEST: u32 = 50;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Owners that wait until those around them are released.
    static WAITING: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

fn release(py: Python<'_>, object: Py<PyAny>) {
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return WAITING.with_borrow_mut(|waiting| waiting.push(object));
    }
    // The deleter of a DLPack tensor may call Python code, which fails if an exception is set.
    let raised = PyErr::take(py);
    DEPTH.set(depth + 1);
    drop(object);
    if depth == 0 {
        while let Some(next) = WAITING.with_borrow_mut(Vec::pop) {
            drop(next);
        }
    }
    DEPTH.set(depth);
    if let Some(raised) = raised {
        raised.restore(py);
    }
}
