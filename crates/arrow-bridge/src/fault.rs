//! Failures that cross between the languages.

use crate::kind::Kind;
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_cuda_host_io::Error as FileError;
use arrow_cuda_ipc::Error as IpcError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A failure: the kind of Python exception, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of exception that Python raises.
    pub kind: Kind,
    /// The text.
    pub text: String,
}

impl Fault {
    /// A failure of that kind.
    pub fn new(kind: Kind, text: impl fmt::Display) -> Self {
        Self { kind, text: text.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

impl From<CudaError> for Fault {
    fn from(error: CudaError) -> Self {
        let lacks_memory = matches!(&error, CudaError::Allocator(error) if error.lacks_memory());
        Self::new(if lacks_memory { Kind::Memory } else { Kind::Io }, error)
    }
}

impl From<BufferError> for Fault {
    fn from(error: BufferError) -> Self {
        match error {
            BufferError::Cuda(error) => error.into(),
            BufferError::Read(_) | BufferError::Write(_) => Self::new(Kind::Io, error),
            other => Self::new(Kind::Invalid, other),
        }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Buffer(error) => error.into(),
            FileError::Seek(_) | FileError::Full { .. } => Self::new(Kind::Io, error),
            other => Self::new(Kind::Invalid, other),
        }
    }
}

impl From<IpcError> for Fault {
    fn from(error: IpcError) -> Self {
        match error {
            IpcError::Buffer(error) => error.into(),
            IpcError::Unreadable(_) => Self::new(Kind::Io, error),
            other => Self::new(Kind::Invalid, other),
        }
    }
}

/// Why a function of the border failed; null if it did not.
pub(crate) type Failure = Option<Box<Fault>>;

/// The result of a function of the border: a value, or a failure.
#[repr(C)]
pub(crate) struct Outcome<T> {
    /// Without a meaning beside a failure.
    pub(crate) value: T,
    pub(crate) failure: Failure,
}

/// The result of a function of the border that makes an object; null beside a failure.
pub(crate) type Made<T> = Outcome<Option<Box<T>>>;

impl<T> Outcome<T> {
    pub(crate) fn into_result(self) -> Result<T, Fault> {
        done(self.failure).map(|()| self.value)
    }
}

/// The result of a function of the border that has no value.
pub(crate) fn done(failure: Failure) -> Result<(), Fault> {
    failure.map_or(Ok(()), |fault| Err(*fault))
}

/// Runs a call from C++ that cannot fail.
pub(crate) fn answer<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Runs a call from C++.  Any failure, including a panic, is returned.
pub(crate) fn attempt<T: Default>(work: impl FnOnce() -> Result<T, Fault>) -> Outcome<T> {
    let result = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Fault::new(Kind::Io, "a panic in Rust, see standard error")));
    match result {
        Ok(value) => Outcome { value, failure: None },
        Err(fault) => Outcome { value: T::default(), failure: Some(Box::new(fault)) },
    }
}

pub(crate) fn attempted(work: impl FnOnce() -> Result<(), Fault>) -> Failure {
    attempt(work).failure
}

pub(crate) fn made<T>(work: impl FnOnce() -> Result<T, Fault>) -> Made<T> {
    attempt(|| work().map(|object| Some(Box::new(object))))
}

/// A position in a file that C++ passes as a signed number.
pub(crate) fn unsigned(what: &str, value: i64) -> Result<u64, Fault> {
    u64::try_from(value)
        .map_err(|_| Fault::new(Kind::Invalid, format!("{what} must not be negative: {value}")))
}

/// A size of memory, or a position in it, that C++ passes as a signed number.
pub(crate) fn byte_count(what: &str, size: i64) -> Result<usize, Fault> {
    Ok(unsigned(what, size)? as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure() {
        let outcome = attempt(|| -> Result<bool, Fault> { panic!("on purpose") });
        assert_eq!(outcome.into_result().expect_err("a panic").kind, Kind::Io);
    }
}
