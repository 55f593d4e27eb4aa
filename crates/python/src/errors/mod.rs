//! Maps failures to the exceptions that pyarrow raises for them.
//!
//! Every failure of a lower layer becomes a [`Failure`], by one `From` for each layer's error, and
//! [`exception`] alone chooses the class that Python raises.

mod arguments;
mod out_of_memory;
mod way_out;

pub(crate) use arguments::{
    ByteCount, class_name, expected, incorrect_type, non_negative, not_initialised, out_of_range,
};
pub(crate) use out_of_memory::{class as out_of_memory_class, with_less_memory};
pub(crate) use way_out::{Wanted, explained, extended};

use crate::interpreter::Owner;
use arrow_cuda_bridge::{Fault, Kind};
use arrow_cuda_buffer::Error as BufferError;
use arrow_cuda_driver::{CallError, CudaError, codes};
use arrow_cuda_host_io::Error as FileError;
use arrow_cuda_ipc::Error as IpcError;
use arrow_cuda_numba_bridge::Error as ArrayError;
use pyo3::exceptions::{
    PyBufferError, PyIndexError, PyNotImplementedError, PyOSError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::io;

/// A failure of a lower layer.
pub(crate) enum Failure {
    /// A call of the driver.
    Driver(Box<CallError>),
    /// A failure that libarrow and pyarrow have a class for.
    Fault(Fault),
    /// A file could not be read or written: the system's number, and the text.
    File(Option<i32>, String),
    /// An array that cannot be described, viewed or exchanged in this way.
    Array(ArrayError),
    /// An exception of Python code that a lower layer called.
    Raised(PyErr),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<CudaError> for Failure {
    fn from(error: CudaError) -> Self {
        match error {
            CudaError::Call(error) => Self::Driver(error),
            CudaError::Allocator(error) => match error.source::<Owner>() {
                Some(raised) => {
                    Self::Raised(Python::attach(|py| PyErr::from_value(raised.bind(py))))
                }
                None => Self::Array(ArrayError::Invalid(error.to_string())),
            },
            other => Self::Fault(other.into()),
        }
    }
}

impl From<BufferError> for Failure {
    fn from(error: BufferError) -> Self {
        match error {
            BufferError::Cuda(error) => error.into(),
            BufferError::Read(ref read) => Self::File(read.code, error.to_string()),
            BufferError::Write(ref write) => Self::File(write.code, error.to_string()),
            other => Self::Fault(other.into()),
        }
    }
}

/// For layers above buffers: what is neither a buffer's error nor the driver's is a failure of this kind.
macro_rules! layers {
    ($($error:ident => $kind:ident,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                match error {
                    $error::Buffer(error) => error.into(),
                    other => Self::$kind(other.into()),
                }
            }
        }
    )*};
}

layers! {
    FileError => Fault,
    IpcError => Fault,
    ArrayError => Array,
}

/// The exception for a failure.
fn exception(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Driver(error) => of_driver(py, error.code, error.to_string()),
        Failure::Fault(Fault { kind, text }) => match kind {
            Kind::Invalid => pyarrow_exception(py, "ArrowInvalid", text),
            Kind::Type => pyarrow_exception(py, "ArrowTypeError", text),
            Kind::Index => pyarrow_exception(py, "ArrowIndexError", text),
            Kind::Key => pyarrow_exception(py, "ArrowKeyError", text),
            Kind::Capacity => pyarrow_exception(py, "ArrowCapacityError", text),
            Kind::NotImplemented => pyarrow_exception(py, "ArrowNotImplementedError", text),
            Kind::Memory => pyarrow_exception(py, "ArrowMemoryError", text),
            Kind::Python => PyErr::fetch(py),
            // The driver's errors come through libarrow, too.
            Kind::Io => match CallError::code_in(&text) {
                Some(code) => of_driver(py, code, text),
                None => PyOSError::new_err(text),
            },
        },
        Failure::File(code, text) => error_of_file(code, text, None),
        Failure::Array(error) => match error {
            ArrayError::Buffer(error) => exception(py, error.into()),
            ArrayError::Unsupported(text) => PyBufferError::new_err(text),
            ArrayError::Index(text) => PyIndexError::new_err(text),
            ArrayError::Axis(axis, ndim) => {
                axis_error(py, axis, ndim).unwrap_or_else(|error| error)
            }
            ArrayError::NeedsCopy(text) => PyNotImplementedError::new_err(text),
            other => PyValueError::new_err(other.to_string()),
        },
        Failure::Raised(error) => error,
    }
}

/// What to do after some errors of the driver, by their codes.
const WAYS_OUT: [(i32, &str); 2] = [
    (codes::STUB_LIBRARY, "take the CUDA toolkit's folder of stubs out of LD_LIBRARY_PATH"),
    (
        codes::NO_DEVICE,
        "nvidia-smi lists the machine's GPUs, and CUDA_VISIBLE_DEVICES chooses those of a process",
    ),
];

/// The exception for an error of the driver, which has that code.
fn of_driver(py: Python<'_>, code: i32, mut text: String) -> PyErr {
    if let Some((_, way_out)) = WAYS_OUT.iter().find(|(each, _)| *each == code) {
        text = format!("{text}; {way_out}");
    }
    let exception = match code {
        codes::OUT_OF_MEMORY => out_of_memory::exception(py, text),
        _ => PyOSError::new_err(text),
    };
    // If the number cannot be added, the error stays the same.
    let _ = exception.value(py).setattr("code", code);
    exception
}

/// NumPy's own exception, which is a ValueError and an IndexError.
fn axis_error(py: Python<'_>, axis: i64, ndim: usize) -> PyResult<PyErr> {
    // NumPy before 1.25 has it at the top.
    let module = py.import("numpy.exceptions").or_else(|_| py.import("numpy"))?;
    Ok(PyErr::from_value(module.call_method1("AxisError", (axis, ndim))?))
}

/// Python shows the number by itself.
fn without_number(code: i32, mut text: String) -> String {
    if let Some(length) = text.strip_suffix(&format!(" (os error {code})")).map(str::len) {
        text.truncate(length);
    }
    text
}

/// The exception for a failed copy of a file, which it names.
pub(crate) fn of_file(py: Python<'_>, error: BufferError, name: &Bound<'_, PyAny>) -> PyErr {
    match error.into() {
        Failure::File(code, text) => error_of_file(code, text, Some(name)),
        other => exception(py, other),
    }
}

/// The exception for a descriptor that cannot be copied, with the file's name.
pub(crate) fn of_descriptor(error: &io::Error, name: &Bound<'_, PyAny>) -> PyErr {
    error_of_file(error.raw_os_error(), error.to_string(), Some(name))
}

fn error_of_file(code: Option<i32>, text: String, name: Option<&Bound<'_, PyAny>>) -> PyErr {
    match (code, name) {
        (Some(code), Some(name)) => {
            PyOSError::new_err((code, without_number(code, text), name.clone().unbind()))
        }
        (Some(code), None) => PyOSError::new_err((code, without_number(code, text))),
        // Without a number, Python would show nothing but the name.
        (None, Some(name)) => PyOSError::new_err(format!("{text}: {}", repr(name))),
        (None, None) => PyOSError::new_err(text),
    }
}

fn repr(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned())
}

/// An exception whose class is pyarrow's.
pub(crate) fn pyarrow_exception(py: Python<'_>, class: &str, text: String) -> PyErr {
    let class = py
        .import("pyarrow.lib")
        .and_then(|lib| lib.getattr(class))
        .and_then(|class| Ok(class.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, text),
        Err(error) => error,
    }
}

/// Turns the failures of every layer into exceptions.
pub(crate) trait OrRaise<T>: Sized {
    /// The value, or the exception for the failure.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, error.into()))
    }
}
