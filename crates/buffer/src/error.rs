//! Errors of buffers.

use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::{FileError, ReadError, WriteError};
use std::fmt;

/// Why an operation on device memory failed.  It has changed nothing, except as [`Read`](Self::Read)
/// and [`Write`](Self::Write) say.
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
    /// A file could not be read.  Some of the bytes that it was to fill may have changed.
    Read(ReadError),
    /// A file could not be written.  It may have been written in part.
    Write(WriteError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(error) => error.fmt(f),
            Self::OutOfBounds(text) | Self::Invalid(text) => f.write_str(text),
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::ReadOnly => f.write_str("the device buffer is not mutable"),
        }
    }
}

impl std::error::Error for Error {}

/// A failure that tells whether work may be left in flight.
pub(crate) trait Leaving {
    /// Whether there may be any.
    fn leaves_work(&self) -> bool;
}

impl Leaving for CudaError {
    fn leaves_work(&self) -> bool {
        *self != Self::Busy // the copy had not begun
    }
}

impl Leaving for FileError {
    fn leaves_work(&self) -> bool {
        !matches!(self, Self::Cuda(error) if !error.leaves_work())
    }
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Cuda(error)
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Cuda(error) => Self::Cuda(error),
            FileError::Read(error) => Self::Read(error),
            FileError::Write(error) => Self::Write(error),
        }
    }
}
