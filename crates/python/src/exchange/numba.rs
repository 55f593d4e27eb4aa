//! The extension's part of the Numba support.  The methods themselves are in Python, as Numba is:
//! `pyarrow_cuda_compat/_interop/numba/`.

use crate::errors::OrRaise;
use crate::ipc::handle::PyIpcMemHandle;
use arrow_cuda_context::Context;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Calls a function while a device's primary context is current on this thread, which has its
/// own context back afterwards.
#[pyfunction(name = "_in_primary_context")]
pub(crate) fn in_primary_context<'py>(
    function: &Bound<'py, PyAny>,
    device_number: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let context = py.detach(|| Context::primary(device_number)).or_raise(py)?;
    let _entered = context.enter().or_raise(py)?;
    function.call0()
}

/// The driver's own handle of an exported allocation, and where in it the memory begins.
#[pyfunction(name = "_allocation_of")]
pub(crate) fn allocation_of<'py>(
    py: Python<'py>,
    handle: &PyIpcMemHandle,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let (allocation, offset) = handle
        .handle
        .allocation()
        .ok_or_else(|| PyValueError::new_err("an empty buffer has no allocation"))?;
    Ok((PyBytes::new(py, allocation), offset))
}
