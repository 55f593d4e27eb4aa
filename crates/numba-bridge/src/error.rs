//! Errors of an exchange.

use arrow_cuda_buffer::Error as BufferError;
use std::fmt;

/// Why an array was not exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An error of the buffer or the driver.
    Buffer(BufferError),
    /// The tensor is sound, but DLPack or this crate cannot exchange it.
    Unsupported(String),
    /// The description of the array is inconsistent, or does not fit the memory or what is copied.
    Invalid(String),
    /// An index leaves the array.
    Index(String),
    /// A view cannot have that layout; a copy could.
    NeedsCopy(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(error) => error.fmt(f),
            Self::Unsupported(text)
            | Self::Invalid(text)
            | Self::Index(text)
            | Self::NeedsCopy(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Buffer(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Self {
        Self::Buffer(error)
    }
}
