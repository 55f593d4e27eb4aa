//! Exceptions for invalid arguments.

use super::way_out::{Wanted, explained, extended};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) fn out_of_range(argument: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} argument is out-of-range"))
}

pub(crate) fn non_negative(argument: &str, value: i64) -> PyResult<usize> {
    usize::try_from(value).map_err(|_| {
        PyValueError::new_err(format!("{argument} argument must be non-negative, not {value}"))
    })
}

/// An argument of the wrong class, with pyarrow's message, and what to do.
pub(crate) fn expected(class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let text = format!("expected {class} instance, got {}", class_name(got));
    for_class(PyTypeError::new_err(text), class, got)
}

/// A pyarrow object that `__new__` has made and nobody has initialised.
pub(crate) fn not_initialised(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("this {} was never initialised", class_name(object)))
}

/// An argument of the wrong class, with the message of Cython's argument checks, and what to do.
pub(crate) fn incorrect_type(argument: &str, class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let text = format!(
        "Argument '{argument}' has incorrect type (expected {class}, got {})",
        class_name(got)
    );
    let name = class.rsplit('.').next().unwrap_or(class);
    for_class(PyTypeError::new_err(text), name, got)
}

fn for_class(error: PyErr, class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let wanted = match class {
        "CudaBuffer" | "CudaBuffer or BufferReader" => Wanted::CudaBuffer,
        "Buffer" => Wanted::Buffer,
        "RecordBatch" => Wanted::RecordBatch,
        "Context" => Wanted::Context,
        "Schema" => Wanted::Schema,
        "IpcMemHandle" => Wanted::Handle,
        _ => return error,
    };
    explained(error, wanted, got)
}

/// An argument that is a number of bytes.
#[derive(Clone, Copy)]
pub(crate) struct ByteCount(pub(crate) i64);

impl FromPyObject<'_, '_> for ByteCount {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        object.extract().map(Self).map_err(|error| {
            extended(object.py(), &error, "pass a number of bytes below 2**63, such as 1 << 30")
        })
    }
}

pub(crate) fn class_name<'py>(object: &Bound<'py, PyAny>) -> Bound<'py, PyString> {
    object.get_type().name().unwrap_or_else(|_| PyString::new(object.py(), "?"))
}
