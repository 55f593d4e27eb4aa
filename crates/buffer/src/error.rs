//! What can go wrong with a buffer.

use arrow_cuda_driver::CudaError;
use std::fmt;

/// Why an operation on device memory failed.  It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The driver failed.
    Cuda(CudaError),
    /// The requested range does not lie within the buffer.
    OutOfBounds(String),
    /// An argument is invalid.
    Invalid(String),
    /// The buffer is read-only.
    ReadOnly,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(error) => error.fmt(f),
            Self::OutOfBounds(text) | Self::Invalid(text) => f.write_str(text),
            Self::ReadOnly => f.write_str("the device buffer is not mutable"),
        }
    }
}

impl std::error::Error for Error {}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Cuda(error)
    }
}
