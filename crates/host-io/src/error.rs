//! Errors of files over device memory.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use std::fmt;

/// Why a read or write failed.  The position is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An error of the buffer or the driver.
    Buffer(BufferError),
    /// The file is closed.
    Closed,
    /// The position is outside the buffer.
    Seek(&'static str),
    /// The bytes do not fit.
    Full {
        /// Bytes to be written.
        size: u64,
        /// The position to write at.
        position: u64,
        /// The buffer's size.
        limit: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(error) => error.fmt(f),
            Self::Closed => f.write_str("I/O operation on closed file"),
            Self::Seek(text) => f.write_str(text),
            Self::Full { size, position, limit } => write!(
                f,
                "{size} bytes at position {position} do not fit into a device buffer of {limit} \
                 bytes"
            ),
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
