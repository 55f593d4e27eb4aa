//! Errors of an exchange.

#[cfg(feature = "arrow")]
use arrow_cuda_array::Error as ColumnError;
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use std::io;

/// Why an array was not exchanged.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Error, Order, StridedLayout};
///
/// let matrix = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// assert_eq!(matrix.transpose(&[0, 2]), Err(Error::Axis(2, 2)));
/// assert!(matches!(matrix.reshape(&[4], Order::C), Err(Error::Invalid(_))));
/// assert!(matches!(matrix.ravel(Order::Fortran), Err(Error::NeedsCopy(_))));
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the buffer or the driver.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// An error of the column that an array is to be made of.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Array(ColumnError),
    /// The tensor is sound, but DLPack or this crate cannot exchange it.
    #[error("{0}")]
    Unsupported(String),
    /// The description of the array is inconsistent, or does not fit the memory or what is copied.
    #[error("{0}")]
    Invalid(String),
    /// An index leaves the array.
    #[error("{0}")]
    Index(String),
    /// The array has no dimension of that number; the second is how many it has.
    #[error("axis {0} is out of bounds for array of dimension {1}")]
    Axis(i64, usize),
    /// A view cannot have that layout; a copy could.
    #[error("{0}")]
    NeedsCopy(String),
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Buffer(error.into())
    }
}

#[cfg(feature = "arrow")]
impl From<ColumnError> for Error {
    fn from(error: ColumnError) -> Self {
        match error {
            ColumnError::Buffer(error) => Self::Buffer(error),
            error => Self::Array(error),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Buffer(error) => error.into(),
            error => Self::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

#[cfg(feature = "arrow")]
impl From<Error> for arrow_schema::ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Buffer(error) => error.into(),
            Error::Array(error) => error.into(),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}

pub(crate) fn invalid<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Invalid(text.into()))
}

pub(crate) fn unsupported<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error::Unsupported(text.into()))
}
