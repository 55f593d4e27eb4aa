//! Arguments that name a place: a `Context`, or in this package's own functions the number or the name of a device.

use super::context::PyContext;
use super::names::{device_called, existing, is_host};
use crate::errors::{OrRaise, class_name, expected};
use arrow_cuda_context::Context;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// A place that an argument names.
pub(crate) enum Place {
    Host,
    Device(Context),
}

/// The context of an argument of upstream's functions, which take no numbers.
pub(crate) fn context_argument<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a PyContext> {
    let context = object.cast::<PyContext>().map_err(|_| expected("Context", object))?;
    Ok(context.get())
}

/// The context that an argument names: a `Context`, or the number or name of a device, whose primary one it is.
///
/// Runs Python code, which may change the size of host buffers: check them afterwards.
pub(crate) fn context_or_number(object: &Bound<'_, PyAny>) -> PyResult<Context> {
    match place_of(object)? {
        Some(Place::Device(context)) => Ok(context),
        Some(Place::Host) => Err(is_host()),
        None => Err(PyTypeError::new_err(format!(
            "expected Context, device number or name such as 'cuda:0', got {}",
            class_name(object)
        ))),
    }
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

/// The place that an object is, or names; `None` for objects that name none.
pub(crate) fn place_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Place>> {
    let py = object.py();
    if let Ok(context) = object.cast::<PyContext>() {
        return Ok(Some(Place::Device(context.get().context().clone())));
    }
    // True and members of enumerations are numbers or texts in Python, but mean something else here.
    let is_member = object.get_type().hasattr(intern!(py, "__members__"))?;
    if object.is_instance_of::<PyBool>() || is_member {
        return Ok(None);
    }
    let number = match object.cast::<PyString>() {
        Ok(name) => match device_called(name)? {
            Some(number) => Some(number),
            None => return Ok(Some(Place::Host)),
        },
        Err(_) => match object.extract::<i64>() {
            Ok(number) => u32::try_from(number).ok(),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(None),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => None,
            Err(error) => return Err(error),
        },
    };
    let number = existing(py, number, object)?;
    py.detach(|| Context::primary(number)).or_raise(py).map(|context| Some(Place::Device(context)))
}
