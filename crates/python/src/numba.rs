//! What the Numba methods need of this extension.  The methods themselves are Python, as Numba
//! is: `pyarrow_cuda_compat/numba.py`.

use crate::errors::OrRaise;
use arrow_cuda_context::Context;
use pyo3::prelude::*;

/// Calls a function of `pyarrow_cuda_compat.numba`, which is imported by the first call.
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: &str,
    argument: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("pyarrow_cuda_compat.numba")?.call_method1(function, (argument,))
}

/// Calls a function while a device's primary context is current on this thread, which has its
/// own context back afterwards.
#[pyfunction]
#[pyo3(name = "_in_primary_context")]
pub(crate) fn in_primary_context<'py>(
    function: &Bound<'py, PyAny>,
    device_number: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let context = py.detach(|| Context::primary(device_number)).or_raise(py)?;
    let _entered = context.enter().or_raise(py)?;
    function.call0()
}
