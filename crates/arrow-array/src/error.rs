//! Errors of arrays on a device.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_schema::ArrowError;
use std::fmt;

/// Why an array was not made, copied or exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An error of a buffer or the driver.
    Buffer(BufferError),
    /// The parts of an array contradict each other or its type.
    Invalid(String),
    /// The memory lies where a device array's cannot.
    Unsupported(String),
    /// arrow-rs refuses the array: what has arrived on the host is not valid.
    Arrow(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(error) => error.fmt(f),
            Self::Invalid(text) | Self::Unsupported(text) | Self::Arrow(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Self {
        Self::Buffer(error)
    }
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Buffer(error.into())
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error.to_string())
    }
}
