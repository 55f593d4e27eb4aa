//! DLPack: tensors in capsules, to other libraries and from them.

mod capsule;
pub(crate) mod export;
pub(crate) mod import;

use arrow_cuda_dlpack::Error;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

/// The exception for a failed exchange.
fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Buffer(error) => crate::errors::raised(py, &error.into()),
        Error::Unsupported(text) => PyBufferError::new_err(text),
        Error::Invalid(text) => PyValueError::new_err(text),
    }
}
