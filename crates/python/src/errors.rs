//! Failures as the exceptions that pyarrow raises for the same.
//!
//! Every failure of a lower layer becomes a [`Failure`], by one `From` for each layer's error, and
//! [`exception`] alone chooses the class that Python raises.

use arrow_cuda_bridge::{Fault, Kind};
use arrow_cuda_driver::LoadError;
use arrow_cuda_numba_bridge::Error as ArrayError;
use pyo3::exceptions::{PyBufferError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// A failure of a lower layer.
pub(crate) enum Failure {
    /// One that libarrow and pyarrow have a class for.
    Fault(Fault),
    /// An array that cannot be exchanged in this way.
    Unsupported(String),
    /// An array whose description is wrong.
    Invalid(String),
}

macro_rules! faults {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Fault(error.into())
            }
        })*
    };
}

faults!(
    Fault,
    arrow_cuda_driver::CudaError,
    arrow_cuda_buffer::Error,
    arrow_cuda_host_io::Error,
    arrow_cuda_ipc::Error
);

impl From<&LoadError> for Failure {
    fn from(error: &LoadError) -> Self {
        arrow_cuda_driver::CudaError::Load(error.clone()).into()
    }
}

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        match error {
            ArrayError::Buffer(error) => error.into(),
            ArrayError::OutOfHostMemory(_) => Self::Fault(Fault::new(Kind::Memory, error)),
            ArrayError::Unsupported(text) => Self::Unsupported(text),
            ArrayError::Invalid(text) => Self::Invalid(text),
        }
    }
}

/// The exception for a failure.
fn exception(py: Python<'_>, failure: Failure) -> PyErr {
    let fault = match failure {
        Failure::Fault(fault) => fault,
        Failure::Unsupported(text) => return PyBufferError::new_err(text),
        Failure::Invalid(text) => return PyValueError::new_err(text),
    };
    let text = fault.text;
    match fault.kind {
        Kind::Invalid => pyarrow_exception(py, "ArrowInvalid", text),
        Kind::Type => pyarrow_exception(py, "ArrowTypeError", text),
        Kind::Index => pyarrow_exception(py, "ArrowIndexError", text),
        Kind::Key => pyarrow_exception(py, "ArrowKeyError", text),
        Kind::Capacity => pyarrow_exception(py, "ArrowCapacityError", text),
        Kind::NotImplemented => pyarrow_exception(py, "ArrowNotImplementedError", text),
        Kind::Memory => pyarrow_exception(py, "ArrowMemoryError", text),
        Kind::Python => PyErr::fetch(py),
        Kind::Io | Kind::None => PyOSError::new_err(text),
    }
}

/// An exception of pyarrow's own.
pub(crate) fn pyarrow_exception(py: Python<'_>, class: &str, text: String) -> PyErr {
    let class = py
        .import("pyarrow.lib")
        .and_then(|lib| lib.getattr(class))
        .and_then(|class| Ok(class.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, text),
        Err(error) => error,
    }
}

/// Turns the failures of every layer into exceptions.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the failure.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, error.into()))
    }
}

/// An argument that lies outside its limits.
pub(crate) fn out_of_range(argument: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} argument is out-of-range"))
}

/// A size or position that must not be negative.
pub(crate) fn non_negative(argument: &str, value: i64) -> PyResult<u64> {
    u64::try_from(value).map_err(|_| {
        PyValueError::new_err(format!("{argument} argument must be non-negative, not {value}"))
    })
}

/// An argument of the wrong class, in the words of pyarrow's own functions.
pub(crate) fn expected(class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("expected {class} instance, got {}", class_name(got)))
}

/// An object of pyarrow's that `__new__` alone has made.
pub(crate) fn not_initialised(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("this {} was never initialised", class_name(object)))
}

/// An argument of the wrong class, in the words of Cython's argument checks.
pub(crate) fn incorrect_type(argument: &str, class: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "Argument '{argument}' has incorrect type (expected {class}, got {})",
        class_name(got)
    ))
}

fn class_name<'py>(object: &Bound<'py, PyAny>) -> Bound<'py, PyString> {
    object.get_type().name().unwrap_or_else(|_| PyString::new(object.py(), "?"))
}
