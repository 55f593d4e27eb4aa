//! One error for all crates.

use arrow_cuda_array::Error as ArrayError;
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_cuda_host_io::Error as FileError;
use arrow_cuda_ipc::Error as IpcError;
use arrow_cuda_numba_bridge::Error as TensorError;
use arrow_schema::ArrowError;
use std::io;

/// Any error of these crates: `?` makes it of each of theirs, of arrow-rs', of files, and of `cudarc`'s and `cust`'s.
///
/// `?` also makes an [`ArrowError`] or an [`io::Error`] of it.
///
/// ```
/// use arrow_cuda::arrow_array::{ArrayRef, Int32Array, RecordBatch};
/// use arrow_cuda::{Context, DeviceRecordBatch, Error};
/// use std::sync::Arc;
///
/// fn upload(numbers: Vec<i32>) -> Result<DeviceRecordBatch, Error> {
///     let column: ArrayRef = Arc::new(Int32Array::from(numbers));
///     let batch = RecordBatch::try_from_iter([("x", column)])?; // arrow-rs' error
///     let context = Context::primary(0)?; // the driver's
///     Ok(DeviceRecordBatch::from_host(&context, &batch)?) // that of arrays
/// }
///
/// fn rows() -> Result<usize, arrow_cuda::arrow_schema::ArrowError> {
///     Ok(upload(vec![1, 2, 3])?.num_rows())
/// }
/// assert_eq!(rows()?, 3);
/// # Ok::<(), arrow_cuda::arrow_schema::ArrowError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the driver failed, or the driver could not be loaded.
    #[error(transparent)]
    Cuda(CudaError),
    /// An error of a buffer.
    #[error(transparent)]
    Buffer(BufferError),
    /// An error of an Arrow array or a record batch, or of arrow-rs.
    #[error(transparent)]
    Array(ArrayError),
    /// An error of a message or of memory of another process.
    #[error(transparent)]
    Ipc(IpcError),
    /// An error of a file over device memory.
    #[error(transparent)]
    File(FileError),
    /// An error of a strided array, of DLPack or of the array interface.
    #[error(transparent)]
    Tensor(TensorError),
}

/// The result of a function that may fail with any error of these crates.
///
/// ```
/// use arrow_cuda::{DeviceBuffer, Result};
///
/// fn first_byte(buffer: &DeviceBuffer) -> Result<u8> {
///     Ok(buffer.slice(..1)?.to_vec()?[0])
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::Cuda(error)
    }
}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Self {
        match error {
            BufferError::Cuda(error) => Self::Cuda(error),
            error => Self::Buffer(error),
        }
    }
}

impl From<ArrayError> for Error {
    fn from(error: ArrayError) -> Self {
        match error {
            ArrayError::Buffer(error) => error.into(),
            error => Self::Array(error),
        }
    }
}

impl From<IpcError> for Error {
    fn from(error: IpcError) -> Self {
        match error {
            IpcError::Buffer(error) => error.into(),
            IpcError::Array(error) => error.into(),
            error => Self::Ipc(error),
        }
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Buffer(error) => error.into(),
            error => Self::File(error),
        }
    }
}

impl From<TensorError> for Error {
    fn from(error: TensorError) -> Self {
        match error {
            TensorError::Buffer(error) => error.into(),
            TensorError::Array(error) => error.into(),
            error => Self::Tensor(error),
        }
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        let ArrowError::ExternalError(inner) = error else {
            return ArrayError::from(error).into();
        };
        // One of ours that has passed through arrow-rs.
        let inner = match inner.downcast() {
            Ok(own) => return *own,
            Err(inner) => inner,
        };
        let inner = match inner.downcast::<IpcError>() {
            Ok(error) => return (*error).into(),
            Err(inner) => inner,
        };
        let inner = match inner.downcast::<FileError>() {
            Ok(error) => return (*error).into(),
            Err(inner) => inner,
        };
        match inner.downcast::<TensorError>() {
            Ok(error) => (*error).into(),
            Err(inner) => ArrayError::from(ArrowError::ExternalError(inner)).into(),
        }
    }
}

/// As [`ArrowError::IoError`].
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        ArrowError::from(error).into()
    }
}

#[cfg(feature = "cudarc")]
impl From<cudarc::driver::DriverError> for Error {
    fn from(error: cudarc::driver::DriverError) -> Self {
        Self::Cuda(error.into())
    }
}

#[cfg(feature = "cust")]
impl From<cust::error::CudaError> for Error {
    fn from(error: cust::error::CudaError) -> Self {
        Self::Cuda(error.into())
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Array(error) => error.into(),
            Error::Ipc(error) => error.into(),
            error => Self::from_external_error(Box::new(error)),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Cuda(error) => error.into(),
            Error::Buffer(error) => error.into(),
            Error::Array(error) => error.into(),
            Error::Ipc(error) => error.into(),
            Error::File(error) => error.into(),
            Error::Tensor(error) => error.into(),
        }
    }
}
