//! Element types from what Python names them by.

use crate::errors::OrRaise;
use arrow_cuda_numba_bridge::ElementType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The element type of an array of another library: whatever NumPy takes for one.
pub(crate) fn of_array(typestr: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let known = typestr.extract::<&str>().ok().and_then(|typestr| typestr.parse().ok());
    match known {
        Some(element) => Ok(element),
        None => of_dtype(typestr),
    }
}

/// The element type of a tensor: an integer or floating-point number that this machine computes
/// with, named by a typestr.
pub(crate) fn of_tensor(typestr: &str) -> PyResult<ElementType> {
    match typestr.parse::<ElementType>() {
        Ok(element) if element.is_native_number() => Ok(element),
        _ => Err(PyValueError::new_err(format!(
            "'{typestr}' is no type of elements: i, u or f and a size in bytes, such as '<f4'"
        ))),
    }
}

fn of_dtype(object: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let py = object.py();
    let dtype = py.import("numpy")?.call_method1("dtype", (object,))?;
    dtype.getattr("str")?.extract::<&str>()?.parse::<ElementType>().or_raise(py)
}
