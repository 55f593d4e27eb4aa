//! Makes the calls in which libcudf computes: finds the context of the data, enters it, and orders the work.  The
//! kernels are in `pyarrow_cuda_compat/_cudf/`.

use super::assertions::Trusted;
use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::{is_of, object_ref};
use crate::pyarrow::{Pyarrow, pyarrow};
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Consumer, Context};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The context in which the thread's call computes.  None outside of calls, and none if the call's data lies in
    /// several contexts.
    static HERE: RefCell<Option<Py<PyContext>>> = const { RefCell::new(None) };
}

/// The context in which the thread's call computes.  None outside of calls, and None if the call's data lies in several
/// contexts.
#[pyfunction(name = "_here")]
pub(super) fn here(py: Python<'_>) -> Option<Py<PyContext>> {
    HERE.with_borrow(|context| context.as_ref().map(|context| context.clone_ref(py)))
}

/// A call computes in a context until this is dropped.  It may have interrupted another one, from a finalizer or the
/// handler of a signal.
struct Here {
    before: Option<Py<PyContext>>,
}

impl Here {
    fn begin(py: Python<'_>, context: Option<&Context>) -> PyResult<Self> {
        let context = context.map(|context| Py::new(py, PyContext::new(context.clone())));
        Ok(Self { before: HERE.replace(context.transpose()?) })
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        drop(HERE.replace(self.before.take()));
    }
}

/// Makes a call in which a library computes on a context's default stream.  The context is current meanwhile.  Without
/// one, the call itself refuses.
///
/// The library's work follows that of the thread's stream, and that stream then waits for it.  The call may run a
/// program's code, so pyarrow's check that data lies on the host trusts no object during it.  Fails if the context is
/// gone.
///
/// Python code might not undo this: the handler of a signal can raise between any two of its steps.
pub(super) fn compute<'py>(
    py: Python<'py>,
    context: Option<Context>,
    call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _trusted = Trusted::begin(0);
    let _here = Here::begin(py, context.as_ref())?;
    let Some(context) = context else { return call() };
    let make_ready = || context.make_ready_for(Consumer::OnDefaultStream, &[]).map(drop);
    wait_for_signals(py, make_ready)?.or_raise(py)?;
    let current = context.enter().or_raise(py)?;
    let result = call()?;
    drop(current);
    py.detach(|| context.order_current_stream()).or_raise(py)?;
    Ok(result)
}

/// Makes such a call where no guard has entered the context: for functions of Python code, and before an engine is
/// loaded.
#[pyfunction(name = "_computing")]
pub(super) fn computing<'py>(
    data: &Bound<'py, PyList>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let context = one_context_of(data)?;
    compute(data.py(), context, || call_out(function, ()))
}

/// Makes such a call in a given context: for files, whose call has no data on a device.
#[pyfunction(name = "_computing_in")]
pub(super) fn computing_in<'py>(
    context: &Bound<'py, PyContext>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    compute(context.py(), Some(context.get().context().clone()), || call_out(function, ()))
}

/// Whether an engine is loaded, so that guards enter contexts.
static HAS_ENGINE: AtomicBool = AtomicBool::new(false);

#[pyfunction(name = "_set_has_engine")]
pub(super) fn set_has_engine(has_engine: bool) {
    HAS_ENGINE.store(has_engine, Ordering::Relaxed);
}

/// The context of the arguments of a computing call; none without an engine, which the call then asks for.
pub(super) fn context_of_call(arguments: &Bound<'_, PyList>) -> PyResult<Option<Context>> {
    match HAS_ENGINE.load(Ordering::Relaxed) {
        true => one_context_of(arguments),
        false => Ok(None),
    }
}

/// The one context of all arrays and tables on devices among the items.  None if there are no such items, or if they
/// lie in several contexts.  Fails if one of several is gone.
fn one_context_of(items: &Bound<'_, PyList>) -> PyResult<Option<Context>> {
    let py = items.py();
    let Pyarrow { lib, bridge, .. } = pyarrow(py)?;
    let classes = [&lib.array, &lib.chunked_array, &lib.table, &lib.record_batch];
    let is_there = |item: &Bound<'_, PyAny>| {
        classes.iter().any(|class| is_of(item, class)) && bridge.is_on_device(object_ref(item))
    };
    let data: Vec<_> = items.iter().filter(is_there).collect();
    let mut contexts = data.iter().map(|each| bridge.one_context_of(object_ref(each)));
    let Some(first) = contexts.next() else { return Ok(None) };
    if let Some(one) = first
        && contexts.all(|other| other.is_some_and(|other| other.is_same(one)))
    {
        return Ok(Some(one.clone()));
    }
    data.iter().try_for_each(|each| bridge.check_contexts(object_ref(each))).or_raise(py)?;
    Ok(None)
}
