//! Errors of messages and handles.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_schema::ArrowError;
use std::fmt;

/// Why memory was not shared, or a message not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An error of the buffer or the driver.
    Buffer(BufferError),
    /// The memory belongs to another process, which alone can export it.
    AlreadyExported,
    /// The memory is part of what an allocator of the program has from the driver, or of a pool that cannot
    /// be exported.
    Lent,
    /// The bytes are not a valid handle.
    Handle(String),
    /// The bytes are not a valid message.
    Message(String),
    /// A message cannot be read: its body is cut off, or its metadata is invalid.  libarrow, whose words
    /// these are, counts that as a failure to read, and a message that contradicts itself as invalid.
    Unreadable(String),
    /// The stream ends here: a message of length 0.
    EndOfStream,
    /// The message does not match the request.
    Arrow(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(error) => error.fmt(f),
            Self::AlreadyExported => f.write_str("Buffer has already been exported for IPC"),
            Self::Lent => f.write_str(
                "memory of the allocator that was set cannot be exported for IPC: it is not a whole \
                 allocation of cudaMalloc, so other processes would reach the memory of others; copy it \
                 to a buffer that was allocated without the allocator",
            ),
            Self::EndOfStream => f.write_str("End of stream (message has length 0)"),
            Self::Handle(text)
            | Self::Message(text)
            | Self::Unreadable(text)
            | Self::Arrow(text) => f.write_str(text),
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
