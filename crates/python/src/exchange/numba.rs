//! The extension's part of the Numba support.  The methods themselves are in Python, as Numba is:
//! `pyarrow_cuda_compat/_methods/numba/`.

use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::ipc::handle::PyIpcMemHandle;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Calls a function while a context is current on this thread, which has its own context back
/// afterwards.
#[pyfunction(name = "_in_context")]
pub(crate) fn in_context<'py>(
    function: &Bound<'py, PyAny>,
    context: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let context = context_argument(context)?.context();
    let _entered = context.enter().or_raise(function.py())?;
    function.call0()
}

/// The driver's own handle of an exported allocation, and where in it the memory begins.
#[pyfunction(name = "_allocation_of")]
pub(crate) fn allocation_of<'py>(
    py: Python<'py>,
    handle: &PyIpcMemHandle,
) -> PyResult<(Bound<'py, PyBytes>, usize)> {
    let (allocation, offset) = handle
        .handle
        .allocation()
        .ok_or_else(|| PyValueError::new_err("an empty buffer has no allocation"))?;
    Ok((PyBytes::new(py, allocation), offset))
}
