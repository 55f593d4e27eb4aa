//! What can go wrong with a file over device memory.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use std::fmt;

/// Why a read or write was not done.  The position is unchanged then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The buffer or the driver refused.
    Buffer(BufferError),
    /// The file is closed.
    Closed,
    /// The position is outside the buffer.
    Seek(&'static str),
    /// More was to be written than there is room for.
    Full {
        /// Bytes to be written.
        size: u64,
        /// Where they were to go.
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
