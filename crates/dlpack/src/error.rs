//! What can go wrong in an exchange.

use arrow_cuda_buffer::Error as BufferError;
use std::fmt;

/// Why a tensor was not exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The memory, or the driver, refused.
    Buffer(BufferError),
    /// The tensor is as it should be, but cannot be exchanged.
    Unsupported(String),
    /// The tensor is not as it should be.
    Invalid(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(error) => error.fmt(f),
            Self::Unsupported(text) | Self::Invalid(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Self {
        Self::Buffer(error)
    }
}
