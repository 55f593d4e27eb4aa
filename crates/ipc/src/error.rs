//! Errors of messages and handles.

#[cfg(feature = "arrays")]
use arrow_cuda_array::Error as ArrayError;
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
#[cfg(feature = "arrays")]
use arrow_schema::ArrowError;
use std::io;

/// Why memory was not shared, or a message not read.
///
/// ```
/// use arrow_cuda_ipc::{Error, Frame, IpcMemHandle};
///
/// assert_eq!(Frame::parse(&[0; 4], 4), Err(Error::EndOfStream)); // which ends a loop, and is no fault
/// let error = IpcMemHandle::from_bytes(b"short").unwrap_err();
/// assert_eq!(error.to_string(), "the IPC handle has 5 bytes, 72 or 80 are needed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the buffer or the driver.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The memory belongs to another process, which alone can export it.
    #[error("Buffer has already been exported for IPC")]
    AlreadyExported,
    /// The memory is a part of an allocation that the program's own allocator or a pool has made: other processes would
    /// reach the rest of it.
    #[error(
        "memory of the allocator that was set cannot be exported for IPC: it is not a whole allocation of \
         cudaMalloc, so other processes would reach the memory of others; copy it to a buffer that was allocated \
         without the allocator"
    )]
    Lent,
    /// The bytes are not a valid handle.
    #[error("{0}")]
    Handle(String),
    /// The bytes are not a valid message.
    #[error("{0}")]
    Message(String),
    /// A message cannot be read: its body is cut off, or its metadata is invalid.  (A message that contradicts itself
    /// is a [`Message`](Self::Message), as in libarrow, whose texts these are.)
    #[error("{0}")]
    Unreadable(String),
    /// The stream ends here: a message of length 0.
    #[error("End of stream (message has length 0)")]
    EndOfStream,
    /// The arrays that a message describes contradict each other, its schema or their type.
    #[cfg(feature = "arrays")]
    #[error(transparent)]
    Array(ArrayError),
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Buffer(error.into())
    }
}

#[cfg(feature = "arrays")]
impl From<ArrayError> for Error {
    fn from(error: ArrayError) -> Self {
        match error {
            ArrayError::Buffer(error) => Self::Buffer(error),
            error => Self::Array(error),
        }
    }
}

#[cfg(feature = "arrays")]
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        let ArrowError::ExternalError(inner) = error else {
            return ArrayError::from(error).into();
        };
        // One of ours that has passed through arrow-rs.
        match inner.downcast() {
            Ok(own) => *own,
            Err(inner) => ArrayError::from(ArrowError::ExternalError(inner)).into(),
        }
    }
}

#[cfg(feature = "arrays")]
impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Array(error) => error.into(),
            Error::Message(text) | Error::Unreadable(text) => Self::IpcError(text),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Buffer(error) => return error.clone().into(),
            #[cfg(feature = "arrays")]
            Error::Array(error) => return error.clone().into(),
            Error::EndOfStream => io::ErrorKind::UnexpectedEof,
            Error::AlreadyExported | Error::Lent => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
