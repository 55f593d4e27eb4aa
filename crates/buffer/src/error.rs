//! Errors of buffers.

use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::{FileError, ReadError, WriteError};
use std::io;

/// Why an operation on device memory failed.  It has changed nothing, except as [`Read`](Self::Read)
/// and [`Write`](Self::Write) say.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, Error};
/// use arrow_cuda_context::Context;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
/// assert!(matches!(buffer.copy_from_host(b"abc"), Err(Error::OutOfBounds(_))));
/// assert_eq!(buffer.read_only().fill(0), Err(Error::ReadOnly));
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the driver failed, or the driver could not be loaded.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The requested range, which the text names, does not lie within the buffer.
    #[error("{0}")]
    OutOfBounds(String),
    /// An argument is invalid, for the reason in the text, such as memory or a stream of another context.
    #[error("{0}")]
    Invalid(String),
    /// The buffer is read-only, and the call would write to it.
    #[error("the device buffer is not mutable")]
    ReadOnly,
    /// A file could not be read.  Some of the bytes that it was to fill may have changed.
    #[error(transparent)]
    Read(ReadError),
    /// A file could not be written.  It may have been written in part.
    #[error(transparent)]
    Write(WriteError),
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

/// The failure of a call that `cudarc` made.
#[cfg(feature = "cudarc")]
impl From<cudarc::driver::DriverError> for Error {
    fn from(error: cudarc::driver::DriverError) -> Self {
        CudaError::from(error).into()
    }
}

/// The failure of a call that `cust` made.
#[cfg(feature = "cust")]
impl From<cust::error::CudaError> for Error {
    fn from(error: cust::error::CudaError) -> Self {
        CudaError::from(error).into()
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Cuda(error) => return error.clone().into(),
            Error::OutOfBounds(_) | Error::Invalid(_) => io::ErrorKind::InvalidInput,
            Error::ReadOnly => io::ErrorKind::PermissionDenied,
            Error::Read(ReadError { code: None, .. }) => io::ErrorKind::UnexpectedEof,
            Error::Write(WriteError { code: None, .. }) => io::ErrorKind::WriteZero,
            Error::Read(ReadError { code: Some(code), .. })
            | Error::Write(WriteError { code: Some(code), .. }) => {
                Self::from_raw_os_error(*code).kind()
            }
        };
        Self::new(kind, error)
    }
}

#[cfg(feature = "arrow")]
impl From<Error> for arrow_schema::ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Cuda(error) => error.into(),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}

pub(crate) fn invalid<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Invalid(text.into()))
}
