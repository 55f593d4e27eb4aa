//! Element types from Python's typestrs and NumPy's dtypes.

use crate::errors::OrRaise;
use arrow_cuda_numba_bridge::{ElementType, Error};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The element type of an array of another library: whatever NumPy takes for a dtype.
pub(crate) fn of_array(typestr: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    // Nearly every array has a typestr that is parsed without NumPy.
    let known = typestr.extract::<&str>().ok().and_then(|typestr| typestr.parse().ok());
    known.map_or_else(|| of_dtype(typestr), Ok)
}

/// The element type of a tensor, by a typestr or a dtype: an integer or floating-point number that
/// this machine computes with.
pub(crate) fn of_tensor(object: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let element = match object.cast::<PyString>() {
        Ok(typestr) => typestr.to_str()?.parse(),
        // NumPy would interpret it as its default, float64.
        Err(_) if object.is_none() => Err(unsupported(object)?),
        Err(_) => Ok(of_dtype(object)?),
    };
    let supported = match element {
        Ok(element) if element.is_native_number() => Ok(element),
        _ => Err(unsupported(object)?),
    };
    supported.or_raise(object.py())
}

fn unsupported(object: &Bound<'_, PyAny>) -> PyResult<Error> {
    Ok(Error::Invalid(format!(
        "a tensor cannot have elements of type {}: pass the typestr or dtype of integers or \
         floating-point numbers in this machine's byte order, such as '<f4' or numpy.float32",
        object.repr()?
    )))
}

fn of_dtype(object: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let dtype = PyArrayDescr::new(object.py(), object)?;
    if dtype.has_object() {
        let text = format!("a device array cannot have Python objects as elements: {dtype}");
        return Err(Error::Invalid(text)).or_raise(object.py());
    }
    dtype.getattr("str")?.extract::<&str>()?.parse::<ElementType>().or_raise(object.py())
}
