//! Calls that another library computes: see `_cudf`.

use super::assertions::Trusted;
use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::interpreter::call_out;
use crate::signals::wait_for_signals;
use arrow_cuda_context::Consumer;
use pyo3::prelude::*;

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
    let context = context_argument(context)?.context().clone();
    let make_ready = || context.make_ready_for(Consumer::OnDefaultStream, &[]).map(drop);
    wait_for_signals(py, make_ready)?.or_raise(py)?;
    let current = context.enter().or_raise(py)?;
    let result = call_out(function, ())?;
    drop(current);
    py.detach(|| context.order_current_stream()).or_raise(py)?;
    Ok(result)
}
