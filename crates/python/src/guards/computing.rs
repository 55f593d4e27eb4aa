//! Calls that another library computes: see `_cudf`.

use super::assertions::Trusted;
use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::interpreter::call_out;
use crate::signals::wait_for_signals;
use arrow_cuda_context::Consumer;
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// The context in which the thread's call computes; none outside of calls.
    static HERE: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// The context in which the thread's call computes; None outside of calls.
#[pyfunction(name = "_here")]
pub(super) fn here(py: Python<'_>) -> Option<Py<PyAny>> {
    HERE.with_borrow(|context| context.as_ref().map(|context| context.clone_ref(py)))
}

/// A call computes in a context until this is dropped.  It may have interrupted another one, from a finalizer or the
/// handler of a signal.
struct Here {
    before: Option<Py<PyAny>>,
}

impl Here {
    fn begin(context: &Bound<'_, PyAny>) -> Self {
        Self { before: HERE.replace(Some(context.clone().unbind())) }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        drop(HERE.replace(self.before.take()));
    }
}

/// Calls a function that has a library compute on the default stream of a context, which is current meanwhile.
///
/// The library's work comes behind that of the thread's stream, and that stream then waits for the work.  pyarrow's
/// check passes for no object, since the function may run a program's code.  Fails if the context is gone.
///
/// Python code could not undo all this: a signal's handler may raise wherever it would.
#[pyfunction(name = "_computing")]
pub(super) fn computing<'py>(
    context: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let _trusted = Trusted::begin(0);
    let _here = Here::begin(context);
    let context = context_argument(context)?.context().clone();
    let make_ready = || context.make_ready_for(Consumer::OnDefaultStream, &[]).map(drop);
    wait_for_signals(py, make_ready)?.or_raise(py)?;
    let current = context.enter().or_raise(py)?;
    let result = call_out(function, ())?;
    drop(current);
    py.detach(|| context.order_current_stream()).or_raise(py)?;
    Ok(result)
}
