//! Records of calls, for `logging` and NVTX: which loggers and ranges they become is in Python,
//! `pyarrow_cuda_compat/_tracing.py`.
//!
//! A call is recorded where Python makes it, with the GIL and under no lock.  The code that records runs before
//! the call begins and after it is complete; it may be any code, that of a logging handler for example.

use crate::interpreter::call_out;
use arrow_cuda_driver::is_exiting;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// The kinds of records that Python has asked for, as bits; 0 for none.
static TRACED: AtomicU8 = AtomicU8::new(0);

/// Python's functions to call before a recorded call and after it.
static RECORDERS: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

thread_local! {
    /// Whether this thread records a call: what a handler does itself is not recorded.
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// The area of a call, which names its logger.
#[derive(Clone, Copy)]
pub(crate) enum Area {
    Allocation,
    Transfer,
    Ipc,
    Compute,
}

impl<'py> FromPyObject<'_, 'py> for Area {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let areas = [Self::Allocation, Self::Transfer, Self::Ipc, Self::Compute];
        let name = name.extract::<PyBackedStr>()?;
        let found = areas.into_iter().find(|area| area.name() == &*name);
        found.ok_or_else(|| PyValueError::new_err("no such area"))
    }
}

impl Area {
    fn name(self) -> &'static str {
        match self {
            Self::Allocation => "allocation",
            Self::Transfer => "transfer",
            Self::Ipc => "ipc",
            Self::Compute => "compute",
        }
    }
}

/// The number of bytes that a call has moved or allocated, and the device, if known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) nbytes: Option<usize>,
    pub(crate) device: Option<u32>,
}

impl Facts {
    pub(crate) fn new(nbytes: usize, device: u32) -> Self {
        Self { nbytes: Some(nbytes), device: Some(device) }
    }
}

/// Makes a call, and records it if that is asked for; otherwise this takes one load.
pub(crate) fn traced<T>(
    py: Python<'_>,
    area: Area,
    name: &'static str,
    call: impl FnOnce() -> PyResult<T>,
    facts: impl FnOnce(&T) -> Facts,
) -> PyResult<T> {
    match TRACED.load(Ordering::Relaxed) {
        0 => call(),
        what => record(py, what, (area, name), None, call, facts),
    }
}

/// Makes a call of Python code, and records it likewise.  `facts` takes the result, and returns the number of bytes
/// and the device.
#[pyfunction(name = "_recorded", signature = (area, name, call, facts=None, rows=None))]
pub(crate) fn recorded<'py>(
    area: Area,
    name: &str,
    call: &Bound<'py, PyAny>,
    facts: Option<&Bound<'py, PyAny>>,
    rows: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let what = TRACED.load(Ordering::Relaxed);
    if what == 0 {
        return call_out(call, ());
    }
    // The facts are Python code, too: a signal's handler may raise in it.
    let make = || -> PyResult<_> {
        let result = call_out(call, ())?;
        let found = facts.map(|facts| call_out(facts, (&result,))?.extract()).transpose()?;
        let (nbytes, device) = found.unwrap_or_default();
        Ok((result, Facts { nbytes, device }))
    };
    let made = record(call.py(), what, (area, name), rows, make, |(_, facts)| *facts);
    made.map(|(result, _)| result)
}

#[cold]
fn record<T>(
    py: Python<'_>,
    what: u8,
    (area, name): (Area, &str),
    rows: Option<u64>,
    call: impl FnOnce() -> PyResult<T>,
    facts: impl FnOnce(&T) -> Facts,
) -> PyResult<T> {
    // At the end, destructors may make calls after the modules that record have gone.
    if IS_RECORDING.get() || is_exiting() {
        return call();
    }
    let Some((begin, end)) = RECORDERS.get(py) else { return call() };
    run(py, || call_out(begin.bind(py), (what, area.name(), name)).map(drop))?;
    let start = Instant::now();
    let outcome = call();
    let seconds = start.elapsed().as_secs_f64();
    let Facts { nbytes, device } = outcome.as_ref().map(facts).unwrap_or_default();
    let error = outcome.as_ref().err().map(|error| error.value(py));
    let arguments = (what, area.name(), name, nbytes, device, seconds, error, rows);
    let ended = run(py, || call_out(end.bind(py), arguments).map(drop));
    match (outcome, ended) {
        (outcome, Err(interrupt)) => {
            interrupt.set_context(py, outcome.err());
            Err(interrupt)
        }
        (outcome, Ok(())) => outcome,
    }
}

/// Records a call.  Exceptions of handlers and filters do not affect the call, except those that end programs,
/// such as KeyboardInterrupt.
fn run(py: Python<'_>, work: impl FnOnce() -> PyResult<()>) -> PyResult<()> {
    IS_RECORDING.set(true);
    let outcome = work();
    IS_RECORDING.set(false);
    match outcome {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            error.write_unraisable(py, None);
            Ok(())
        }
        outcome => outcome,
    }
}

/// Chooses the records from the next call on, for all threads, and what is called before a call and after it.
#[pyfunction(name = "_set_traced")]
pub(crate) fn set_traced(py: Python<'_>, what: u8, begin: Py<PyAny>, end: Py<PyAny>) {
    RECORDERS.get_or_init(py, || (begin, end));
    TRACED.store(what, Ordering::Relaxed);
}
