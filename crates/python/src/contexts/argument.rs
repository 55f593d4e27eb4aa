//! Arguments that name a context: a `Context`, or in this package's own functions the number of a device.

use super::context::PyContext;
use crate::errors::{OrRaise, class_name, expected};
use arrow_cuda_context::{Context, Device};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// The context of an argument of upstream's functions, which take no numbers.
pub(crate) fn context_argument<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a PyContext> {
    let context = object.cast::<PyContext>().map_err(|_| expected("Context", object))?;
    Ok(context.get())
}

/// The context that an argument names: a `Context`, or the number of a device, whose primary one it is.
///
/// Runs Python code, which may change the size of host buffers: check them afterwards.
pub(crate) fn context_or_number(object: &Bound<'_, PyAny>) -> PyResult<Context> {
    context_named(object)?.ok_or_else(|| {
        let class = class_name(object);
        PyTypeError::new_err(format!("expected Context or device number, got {class}"))
    })
}

/// The context that an argument names, for the package's Python code.
#[pyfunction(name = "_context")]
pub(super) fn context_of(context: &Bound<'_, PyAny>) -> PyResult<PyContext> {
    context_or_number(context).map(PyContext::new)
}

/// The context that an optional argument names; without one, the first device's primary context.
pub(crate) fn context_or_first(
    py: Python<'_>,
    object: Option<&Bound<'_, PyAny>>,
) -> PyResult<Context> {
    match object {
        Some(object) => context_or_number(object),
        None => py.detach(|| Context::primary(0)).or_raise(py),
    }
}

/// The context that an object is, or names by its device's number; `None` for other objects.
pub(crate) fn context_named(object: &Bound<'_, PyAny>) -> PyResult<Option<Context>> {
    let py = object.py();
    if let Ok(context) = object.cast::<PyContext>() {
        return Ok(Some(context.get().context().clone()));
    }
    // True and members of enumerations are numbers in Python, but mean something else here.
    let is_member = object.get_type().hasattr(intern!(py, "__members__"))?;
    if object.is_instance_of::<PyBool>() || is_member {
        return Ok(None);
    }
    let number = match object.extract::<i64>() {
        Ok(number) => u32::try_from(number).ok(),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(None),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => None,
        Err(error) => return Err(error),
    };
    let count = py.detach(Device::count).or_raise(py)?;
    match number.filter(|number| *number < count) {
        Some(number) => py.detach(|| Context::primary(number)).or_raise(py).map(Some),
        None => {
            let devices = match count {
                1 => "there is 1 device, which is number 0".to_owned(),
                count => format!("there are {count} devices, numbered from 0"),
            };
            let text = format!("device {object} does not exist: {devices}");
            Err(PyValueError::new_err(text))
        }
    }
}
