//! Failures that cross between the languages.

use crate::ffi::{Failure, Kind};
use crate::truncate::length_within;
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::CudaError;
use arrow_cuda_host_io::Error as FileError;
use arrow_cuda_ipc::Error as IpcError;
use std::ffi::c_char;
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
            FileError::Closed => Self::new(Kind::Invalid, error),
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

impl Failure {
    pub(crate) fn none() -> Self {
        Self { kind: Kind::None, text: [0; 1020] }
    }

    fn fill(&mut self, fault: &Fault) {
        self.kind = fault.kind;
        let most = self.text.len() - 1;
        let cut = length_within(&fault.text, most);
        let bytes = fault.text.bytes().take(cut).chain([0]);
        for (place, byte) in self.text.iter_mut().zip(bytes) {
            *place = byte as c_char;
        }
    }

    pub(crate) fn into_fault(self) -> Fault {
        let bytes: Vec<u8> =
            self.text.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
        Fault { kind: self.kind, text: String::from_utf8_lossy(&bytes).into_owned() }
    }
}

/// Runs a call from C++.  Any failure, including a panic, is written into `failure`.
pub(crate) fn attempt<T>(
    failure: Option<&mut Failure>,
    work: impl FnOnce() -> Result<T, Fault>,
) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Fault::new(Kind::Io, "a panic in Rust, see standard error")));
    outcome.map_err(|fault| failure.map(|failure| failure.fill(&fault))).ok()
}

/// Runs a call from C++ whose result is stored in `out`.  Returns whether it succeeded.
pub(crate) fn attempt_into<T>(
    out: &mut T,
    failure: Option<&mut Failure>,
    work: impl FnOnce() -> Result<T, Fault>,
) -> bool {
    attempt(failure, work).map(|value| *out = value).is_some()
}

/// A size or position that C++ passes as a signed number.
pub(crate) fn unsigned(what: &str, value: i64) -> Result<u64, Fault> {
    u64::try_from(value)
        .map_err(|_| Fault::new(Kind::Invalid, format!("{what} must not be negative: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut failure = Failure::none();
        failure.fill(&Fault::new(Kind::Io, "ä".repeat(2000)));
        let fault = failure.into_fault();
        assert_eq!(fault.text.chars().count(), 509);
        assert!(fault.text.chars().all(|character| character == 'ä'));
    }

    #[test]
    fn a_panic_is_a_failure() {
        let mut failure = Failure::none();
        let outcome: Option<()> = attempt(Some(&mut failure), || panic!("on purpose"));
        assert!(outcome.is_none());
        assert_eq!(failure.into_fault().kind, Kind::Io);
    }
}
