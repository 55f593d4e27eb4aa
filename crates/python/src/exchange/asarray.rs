//! `__array__`, by which `numpy.asarray` converts objects in device memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Refuses NumPy's `copy=False` for data in device memory.
pub(crate) fn check_copied(what: &str, copy: Option<bool>) -> PyResult<()> {
    match copy {
        Some(false) => Err(PyValueError::new_err(format!(
            "{what} in device memory cannot be a NumPy array without a copy"
        ))),
        _ => Ok(()),
    }
}

/// An array of NumPy as the dtype that `numpy.asarray` was asked for.
pub(crate) fn converted<'py>(
    array: Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match dtype.filter(|dtype| !dtype.is_none()) {
        None => Ok(array),
        // No second copy where the dtype is the same.
        Some(dtype) => array.call_method("astype", (dtype, "K", "unsafe", true, false), None),
    }
}
