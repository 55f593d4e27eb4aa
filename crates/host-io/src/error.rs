//! Errors of files over device memory.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use std::io;

/// Why a read or write failed.  The position is unchanged.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_host_io::{BufferWriter, Error};
///
/// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
/// let refused = writer.write_bytes(b"abcde");
/// assert_eq!(refused, Err(Error::Full { size: 5, position: 0, limit: 4 }));
/// assert_eq!(writer.position()?, 0);
/// # Ok::<(), arrow_cuda_host_io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the buffer or the driver.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The file is closed.
    #[error("I/O operation on closed file")]
    Closed,
    /// The position is outside the buffer.
    #[error("{0}")]
    Seek(&'static str),
    /// The bytes do not fit.
    #[error("{size} bytes at position {position} do not fit into a device buffer of {limit} bytes")]
    Full {
        /// Bytes to be written.
        size: usize,
        /// The position to write at.
        position: u64,
        /// The buffer's size.
        limit: usize,
    },
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Buffer(error.into())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Buffer(error) => return error.into(),
            Error::Closed => io::ErrorKind::Other,
            Error::Seek(_) => io::ErrorKind::InvalidInput,
            Error::Full { .. } => io::ErrorKind::WriteZero,
        };
        Self::new(kind, error)
    }
}

#[cfg(feature = "arrow")]
impl From<Error> for arrow_schema::ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Buffer(error) => error.into(),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}
