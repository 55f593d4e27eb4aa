//! Errors of driver calls.

use crate::functions::sys;
use crate::library::{self, LoadError, NO_LIBRARY, NO_SYMBOL};
use crate::{codes, lifecycle};
use std::any::Any;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Why a driver call failed.
///
/// Its text is the one that Arrow's own CUDA support uses:
///
/// ```
/// use arrow_cuda_driver::CudaError;
///
/// let error = CudaError::of_call("cuMemAlloc_v2", 2);
/// assert_eq!(error.code(), Some(2));
/// assert!(error.to_string().starts_with("Cuda error 2 in function 'cuMemAlloc': "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver library could not be loaded.
    #[error(transparent)]
    Load(LoadError),
    /// Another library of the process uses another driver library, or none.
    #[error("{0}")]
    OtherDriver(String),
    /// The driver answered with an error.
    #[error(transparent)]
    Call(Box<CallError>),
    /// An allocator that the program has set gave no memory.
    #[error("{0}")]
    Allocator(AllocatorError),
    /// A signal has ended a wait or a copy: see [`interruptible`](crate::interruptible).
    #[error("a signal has ended the wait")]
    Interrupted,
    /// The device has other work to do first, for long: the copy has not begun.
    #[error("the device is busy")]
    Busy,
}

/// The error of a driver function: number, name and text come from the driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{BEGIN}{code} in {}: {}{}{}{}", self.place(),
    name.as_ref().map_or_else(String::new, |name| format!("[{name}] ")),
    text.as_deref().unwrap_or("unknown error"), self.sizes(),
    advice.as_ref().map_or_else(String::new, |advice| format!("; {advice}")))]
#[non_exhaustive]
pub struct CallError {
    /// The function, without the suffix of its binary interface (`cuMemAlloc`); or the library that has called one and
    /// keeps only the result code (`cudarc`, `cust`).
    pub function: &'static str,
    /// The result code.
    pub code: i32,
    /// The code's symbolic name, where the driver knows one.
    pub name: Option<String>,
    /// The code's meaning, where the driver knows it.
    pub text: Option<String>,
    /// How many bytes the caller asked for, when the call was an allocation.
    pub requested_bytes: Option<u64>,
    /// The device's memory then, when the call was an allocation of it.
    pub device_memory: Option<DeviceMemory>,
    /// What was wrong, and what to do, where the caller knows more than the driver says.
    pub advice: Option<String>,
}

/// The memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceMemory {
    /// The device's number.
    pub device: u32,
    /// How much is free for any process.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

impl DeviceMemory {
    /// The free and the total memory of a device, in bytes.
    pub fn new(device: u32, free: u64, total: u64) -> Self {
        Self { device, free, total }
    }
}

/// The first words of an error of a driver function.
const BEGIN: &str = "Cuda error ";

impl CallError {
    /// The result code in the text of an error: for those that have come through a library that keeps texts only.
    ///
    /// ```
    /// use arrow_cuda_driver::{CallError, CudaError};
    ///
    /// let text = CudaError::of_call("cuMemAlloc_v2", 2).to_string();
    /// assert_eq!(CallError::code_in(&text), Some(2));
    /// assert_eq!(CallError::code_in("out of memory"), None);
    /// ```
    pub fn code_in(text: &str) -> Option<i32> {
        let (code, _) = text.strip_prefix(BEGIN)?.split_once(' ')?;
        code.parse().ok()
    }

    fn place(&self) -> String {
        match self.function {
            library @ ("cudarc" | "cust") => format!("a call of {library}"),
            function => format!("function '{function}'"),
        }
    }

    /// The bytes that an allocation wanted, which found too little memory, and those that there were.
    fn sizes(&self) -> String {
        let Some(bytes) = self.requested_bytes.filter(|_| self.code == codes::OUT_OF_MEMORY) else {
            return String::new();
        };
        match self.device_memory {
            None => format!("; {bytes} bytes were requested"),
            Some(DeviceMemory { device, free, total }) => format!(
                "; {bytes} bytes were requested, and {free} of {total} bytes are free on device {device}"
            ),
        }
    }
}

/// The result of a driver call.  A function that returns it passes on the driver's errors; its section
/// "Errors", if it has one, names further ones and those that need an explanation.
pub type CudaResult<T> = Result<T, CudaError>;

impl CudaError {
    /// The error for `code` from `function`, named as in the driver's binary interface.
    pub fn of_call(function: &'static str, code: i32) -> Self {
        let short = function.split("_v").next().unwrap_or(function);
        let (code, name, text) = match code {
            NO_LIBRARY => match library::get() {
                Err(error) => return Self::Load(error),
                Ok(_) => (999, None, None),
            },
            NO_SYMBOL => {
                let library = library::get().map_or("", |library| &library.name);
                let text = format!("the driver library '{library}' has no function '{function}'");
                (codes::NOT_FOUND, Some("CUDA_ERROR_NOT_FOUND".to_owned()), Some(text))
            }
            // A forked child cannot ask the driver.
            codes::NOT_INITIALIZED if lifecycle::is_forked_child() => {
                let text = "initialization error (CUDA cannot be used after a fork: start \
                            processes by the method 'spawn', as of Python's multiprocessing)";
                (code, Some("CUDA_ERROR_NOT_INITIALIZED".to_owned()), Some(text.to_owned()))
            }
            code => (code, ask(sys::cuGetErrorName, code), ask(sys::cuGetErrorString, code)),
        };
        Self::Call(Box::new(CallError {
            function: short,
            code,
            name,
            text,
            requested_bytes: None,
            device_memory: None,
            advice: None,
        }))
    }

    /// The failure behind an error of `cust`, which keeps neither function nor number.
    ///
    /// ```
    /// use arrow_cuda_driver::CudaError;
    ///
    /// cust::init(cust::CudaFlags::empty()).map_err(CudaError::last)?;
    /// let missing = cust::device::Device::get_device(7_000).map_err(CudaError::last);
    /// assert_eq!(missing.unwrap_err().code(), Some(101));
    /// # Ok::<(), CudaError>(())
    /// ```
    #[cfg(feature = "cust")]
    pub fn last(folded: cust::error::CudaError) -> Self {
        let (function, code) = crate::cust_symbols::take_last(folded as i32);
        Self::of_call(function, code)
    }

    /// The same error with the size of the allocation that failed, in bytes.
    #[must_use]
    pub fn while_allocating(mut self, bytes: u64) -> Self {
        if let Self::Call(call) = &mut self {
            call.requested_bytes = Some(bytes);
        }
        self
    }

    /// The same error with what the device had, if its memory ran out.
    #[must_use]
    pub fn on_device(mut self, memory: impl FnOnce() -> Option<DeviceMemory>) -> Self {
        if let Self::Call(call) = &mut self
            && call.code == codes::OUT_OF_MEMORY
        {
            call.device_memory = memory();
        }
        self
    }

    /// The same error with what was wrong and what to do, if the driver has answered with that code.  Further advice
    /// is appended.
    ///
    /// ```
    /// use arrow_cuda_driver::{CudaError, codes};
    ///
    /// let error = CudaError::of_call("cuEventElapsedTime", codes::NOT_READY);
    /// let error = error.advised(codes::NOT_READY, || "wait for the event".to_owned());
    /// assert!(error.to_string().ends_with("; wait for the event"));
    /// ```
    #[must_use]
    pub fn advised(mut self, code: i32, advice: impl FnOnce() -> String) -> Self {
        if let Self::Call(call) = &mut self
            && call.code == code
        {
            call.advice = Some(match call.advice.take() {
                Some(known) => format!("{known}. {}", advice()),
                None => advice(),
            });
        }
        self
    }

    /// The driver's result code; `None` for what the driver has not said.
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Load(_) | Self::OtherDriver(_) | Self::Allocator(_) => None,
            Self::Interrupted | Self::Busy => None,
            Self::Call(call) => Some(call.code),
        }
    }

    /// Whether the driver library lacks the function, because the library is the older of the two.
    pub fn is_missing_function(&self) -> bool {
        self.code() == Some(codes::NOT_FOUND)
    }

    /// Whether the context is gone, with all that was in it: destroyed by whoever made it, or taken
    /// by a reset of its device.
    pub fn is_context_gone(&self) -> bool {
        matches!(self.code(), Some(codes::INVALID_CONTEXT | codes::CONTEXT_IS_DESTROYED))
    }

    /// Whether memory, on the device or pinned on the host, ran out.
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Allocator(error) => error.lacks_memory(),
            _ => self.code() == Some(codes::OUT_OF_MEMORY),
        }
    }
}

/// The failure behind an error of `cust`: see [`CudaError::last`].
#[cfg(feature = "cust")]
impl From<cust::error::CudaError> for CudaError {
    fn from(folded: cust::error::CudaError) -> Self {
        Self::last(folded)
    }
}

/// A signal's end of a wait is not `ErrorKind::Interrupted`, after which the standard library tries again.
impl From<CudaError> for io::Error {
    fn from(error: CudaError) -> Self {
        let kind = match &error {
            CudaError::Busy => io::ErrorKind::ResourceBusy,
            error if error.is_out_of_memory() => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[cfg(feature = "arrow")]
impl From<CudaError> for arrow_schema::ArrowError {
    fn from(error: CudaError) -> Self {
        Self::from_external_error(Box::new(error))
    }
}

fn ask(question: unsafe fn(i32, *mut c_void) -> i32, code: i32) -> Option<String> {
    let mut answer: *const c_char = std::ptr::null();
    // SAFETY: both functions store a pointer to a static string, or null, through their second
    // argument.
    let asked = unsafe { question(code, (&raw mut answer).cast()) };
    if asked != 0 || answer.is_null() {
        return None;
    }
    // SAFETY: the driver's strings are NUL-terminated and static.
    Some(unsafe { CStr::from_ptr(answer) }.to_string_lossy().into_owned())
}

/// Why an allocator that the program has set gave no memory.
#[derive(Clone, Debug)]
pub struct AllocatorError {
    text: String,
    lacks_memory: bool,
    source: Option<Arc<dyn Any + Send + Sync>>,
}

impl AllocatorError {
    /// An error with these words.  `source` is what the allocator itself has raised, for those who know
    /// its type.
    pub fn new(text: impl Into<String>, source: Option<Arc<dyn Any + Send + Sync>>) -> Self {
        Self { text: text.into(), lacks_memory: false, source }
    }

    /// The same error, of an allocator that has no more memory.
    #[must_use]
    pub fn out_of_memory(mut self) -> Self {
        self.lacks_memory = true;
        self
    }

    /// Whether the allocator has no more memory.
    pub fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    /// The error that the allocator raised, if it has that type.
    pub fn source<T: Any>(&self) -> Option<&T> {
        self.source.as_deref().and_then(|source| source.downcast_ref())
    }
}

impl fmt::Display for AllocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

// Nothing here changes its source.
impl UnwindSafe for AllocatorError {}
impl RefUnwindSafe for AllocatorError {}

impl PartialEq for AllocatorError {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.lacks_memory) == (&other.text, other.lacks_memory)
    }
}

impl Eq for AllocatorError {}
