//! Errors of arrays on a device.

use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_cuda_layout::JoinError;
use arrow_schema::ArrowError;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Why an array was not made, copied or exchanged.
///
/// ```
/// use arrow_array::Int32Array;
/// use arrow_cuda_array::{DeviceArray, Error};
/// use arrow_cuda_context::Context;
///
/// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
/// assert!(matches!(numbers.slice(2, 2), Err(Error::Invalid(_))));
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of a buffer or the driver.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The parts of an array contradict each other or its type.
    #[error("{0}")]
    Invalid(String),
    /// The memory is of a kind that the call does not take: host memory, or memory that is not pinned.
    #[error("{0}")]
    Unsupported(String),
    /// The producer of a stream could not give its schema, or the next batch.
    #[error("the stream of batches failed: {text} (error {code})")]
    Stream {
        /// An error number of the system (`errno`).
        code: i32,
        /// The producer's own words.
        text: String,
    },
    /// arrow-rs refuses the array that was copied to the host, because its contents are invalid.
    #[error(transparent)]
    Arrow(ArrowFailure),
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Buffer(error.into())
    }
}

impl From<JoinError> for Error {
    fn from(error: JoinError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        let ArrowError::ExternalError(inner) = error else {
            return Self::Arrow(ArrowFailure(Arc::new(error)));
        };
        // One of ours that has passed through arrow-rs.
        let inner = match inner.downcast() {
            Ok(own) => return *own,
            Err(inner) => inner,
        };
        let inner = match inner.downcast::<BufferError>() {
            Ok(error) => return Self::Buffer(*error),
            Err(inner) => inner,
        };
        match inner.downcast::<CudaError>() {
            Ok(error) => (*error).into(),
            Err(inner) => Self::Arrow(ArrowFailure(Arc::new(ArrowError::ExternalError(inner)))),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(text) => Self::InvalidArgumentError(text),
            Error::Arrow(ArrowFailure(error)) => Arc::try_unwrap(error).unwrap_or_else(|error| {
                Self::from_external_error(Box::new(Error::Arrow(ArrowFailure(error))))
            }),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Buffer(error) => error.into(),
            error => {
                let kind = match &error {
                    Error::Arrow(failure) => match failure.error() {
                        ArrowError::IoError(_, error) => error.kind(),
                        _ => io::ErrorKind::InvalidData,
                    },
                    _ => io::ErrorKind::InvalidData,
                };
                Self::new(kind, error)
            }
        }
    }
}

/// An error of arrow-rs, with its text and its source.  Two are equal if their texts are.
///
/// ```
/// use arrow_cuda_array::{ArrowFailure, Error};
/// use arrow_schema::ArrowError;
///
/// let text = |failure: ArrowFailure| failure.to_string();
/// let Error::Arrow(failure) = ArrowError::DivideByZero.into() else { panic!("another error") };
/// assert_eq!(text(failure), ArrowError::DivideByZero.to_string());
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct ArrowFailure(Arc<ArrowError>);

impl ArrowFailure {
    /// The error of arrow-rs.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::{DeviceRecordBatch, Error};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::ArrowError;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let Err(Error::Arrow(failure)) = there.project(&[7]) else { panic!("there is one column") };
    /// assert!(matches!(failure.error(), ArrowError::SchemaError(_)));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn error(&self) -> &ArrowError {
        &self.0
    }
}

// Nothing changes it.
impl UnwindSafe for ArrowFailure {}
impl RefUnwindSafe for ArrowFailure {}

impl PartialEq for ArrowFailure {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ArrowFailure {}

/// Refuses a range of elements that are not all there.
pub(crate) fn check_range(what: &str, first: u64, length: u64, there: u64) -> Result<(), Error> {
    match first.checked_add(length) {
        Some(end) if end <= there => Ok(()),
        _ => invalid(format!("{length} {what} from number {first} on, but there are {there}")),
    }
}

pub(crate) fn invalid<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Invalid(text.into()))
}
