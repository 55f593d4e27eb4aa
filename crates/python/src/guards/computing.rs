//! Calls that another library computes: see `_cudf`.

use super::assertions::Trusted;
use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::{is_of, object_ref};
use crate::pyarrow::{Lib, Pyarrow, pyarrow};
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Consumer, Context};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::cell::RefCell;

thread_local! {
    /// The context in which the thread's call computes; none outside of calls, and where its data lies in several.
    static HERE: RefCell<Option<Py<PyContext>>> = const { RefCell::new(None) };
}

/// The context in which the thread's call computes; None outside of calls, and where its data lies in several.
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

/// Makes a call that has a library compute on the default stream of a context, which is current meanwhile; the call
/// itself refuses data that lies in no single context.
///
/// The library's work comes behind that of the thread's stream, and that stream then waits for the work.  pyarrow's
/// check passes for no object, since the call may run a program's code.  Fails if the context is gone.
///
/// Python code could not undo all this: a signal's handler may raise wherever it would.
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

/// The same for functions of Python code, which have no guard here.
#[pyfunction(name = "_computing")]
pub(super) fn computing<'py>(
    data: Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let context = one_context_of(py, std::iter::once(data))?;
    compute(py, context, || call_out(function, ()))
}

/// How deep lists in lists are looked into.
const DEPTH: usize = 3;

/// The context in which all arrays and tables on devices lie that are among the objects; none if they lie in several,
/// or there are none.  Fails if one of several is gone.
pub(super) fn one_context_of<'py>(
    py: Python<'py>,
    objects: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Option<Context>> {
    let Pyarrow { lib, bridge, .. } = pyarrow(py)?;
    let mut data = Vec::new();
    objects.for_each(|object| add_data(lib, object, DEPTH, &mut data));
    data.retain(|each| bridge.is_on_device(object_ref(each)));
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

fn add_data<'py>(
    lib: &Lib,
    object: Bound<'py, PyAny>,
    depth: usize,
    data: &mut Vec<Bound<'py, PyAny>>,
) {
    let classes = [&lib.array, &lib.chunked_array, &lib.table, &lib.record_batch];
    if classes.into_iter().any(|class| is_of(&object, class)) {
        return data.push(object);
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Ok(list) = object.cast_exact::<PyList>() {
        list.iter().for_each(|item| add_data(lib, item, depth, data));
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        tuple.iter().for_each(|item| add_data(lib, item, depth, data));
    } else if let Ok(dict) = object.cast_exact::<PyDict>() {
        dict.values().iter().for_each(|item| add_data(lib, item, depth, data));
    }
}
