//! Exceptions for invalid arguments.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) fn out_of_range(argument: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} argument is out-of-range"))
}

pub(crate) fn non_negative(argument: &str, value: i64) -> PyResult<u64> {
    u64::try_from(value).map_err(|_| {
        PyValueError::new_err(format!("{argument} argument must be non-negative, not {value}"))
    })
}

/// An argument of the wrong class, with pyarrow's message.
pub(crate) fn expected(class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("expected {class} instance, got {}", class_name(got)))
}

/// A pyarrow object that `__new__` has made and nobody has initialised.
pub(crate) fn not_initialised(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("this {} was never initialised", class_name(object)))
}

/// An argument of the wrong class, with the message of Cython's argument checks.
pub(crate) fn incorrect_type(argument: &str, class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "Argument '{argument}' has incorrect type (expected {class}, got {})",
        class_name(got)
    ))
}

pub(crate) fn class_name<'py>(object: &Bound<'py, PyAny>) -> Bound<'py, PyString> {
    object.get_type().name().unwrap_or_else(|_| PyString::new(object.py(), "?"))
}
