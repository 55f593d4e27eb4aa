//! The data of an argument: bytes on the host, or device memory.

use crate::errors::{Wanted, expected, explained};
use crate::pyarrow::from_pyarrow::{
    as_buffer, check_tensor, host_bytes, is_buffer, is_cuda_buffer, span,
};
use crate::pyarrow::to_pyarrow::wrap_memory_of;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{ffi, intern};
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

/// Anything that upstream's `py_buffer` takes.
pub(crate) enum Data<'py> {
    Host(HostData<'py>),
    /// A `CudaBuffer`.
    Device(Bound<'py, PyAny>),
}

/// Bytes on the host, and what keeps them.
pub(crate) enum HostData<'py> {
    /// A `pyarrow.Buffer`.
    Buffer(Bound<'py, PyAny>),
    /// Another object's, by Python's buffer protocol: a `pyarrow.Buffer` over them takes longer to
    /// make than a small copy has time for.
    Exported(Exported<'py>),
}

impl<'py> Data<'py> {
    /// The data of an object.
    ///
    /// Raises what `pyarrow.py_buffer` raises, with what to do, and `TypeError` for Python objects: their addresses
    /// are no data.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        check_tensor(object)?;
        // pyarrow crashes on an uninitialised buffer.
        if !is_buffer(object)?
            && let Some(exported) = Exported::by(object)?
        {
            return Ok(Self::Host(HostData::Exported(exported)));
        }
        let buffer = as_buffer(object).map_err(|error| without_bytes(error, object))?;
        let span = span(&buffer).ok_or_else(|| expected("Buffer", object))?;
        if span.is_cpu {
            return Ok(Self::Host(HostData::Buffer(buffer)));
        }
        let is_ours = is_cuda_buffer(&buffer)?;
        Ok(Self::Device(if is_ours { buffer } else { wrap_memory_of(&buffer)? }))
    }
}

impl<'py> HostData<'py> {
    /// The bytes, as many as there are now: a buffer may be resized by other threads, as long as
    /// they run.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Self::Buffer(buffer) => host_bytes(buffer),
            Self::Exported(exported) => Ok(exported.bytes()),
        }
    }

    /// The object that keeps the bytes.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        match self {
            Self::Buffer(buffer) => buffer,
            Self::Exported(exported) => &exported.object,
        }
    }

    /// A `pyarrow.Buffer` over the bytes, for those who keep it longer.
    pub(crate) fn buffer(&self) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Buffer(buffer) => Ok(buffer.clone()),
            Self::Exported(exported) => as_buffer(&exported.object),
        }
    }
}

/// Bytes that an object has exported, and cannot move or free meanwhile.
pub(crate) struct Exported<'py> {
    object: Bound<'py, PyAny>,
    /// Not to be moved: it may point into itself.
    view: Box<ffi::Py_buffer>,
}

impl<'py> Exported<'py> {
    /// None for an object that exports no contiguous bytes.
    fn by(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        // It takes NumPy some time to describe its elements.
        if object.is_exact_instance_of::<PyBytes>() {
            return Ok(Self::with(object, ffi::PyBUF_ANY_CONTIGUOUS));
        }
        if let Some(described) = Self::with(object, ffi::PyBUF_ANY_CONTIGUOUS | ffi::PyBUF_FORMAT) {
            return match described.has_objects() {
                true => Err(objects_error(object)),
                false => Ok(Some(described)),
            };
        }
        // Dates have no format, but are bytes.
        let has_objects = object.getattr_opt(intern!(object.py(), "dtype"))?;
        let has_objects = has_objects.and_then(|it| it.getattr_opt("hasobject").ok().flatten());
        if has_objects.is_some_and(|answer| answer.is_truthy().unwrap_or(true)) {
            return Err(objects_error(object));
        }
        Ok(Self::with(object, ffi::PyBUF_ANY_CONTIGUOUS))
    }

    fn with(object: &Bound<'py, PyAny>, flags: c_int) -> Option<Self> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::uninit());
        // SAFETY: a live object, and room for what it exports; the GIL is held.
        let answer = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) };
        if answer != 0 {
            // The caller's fallback raises the exception.
            drop(PyErr::take(object.py()));
            return None;
        }
        // SAFETY: the call has filled it.
        let view = unsafe { Box::from_raw(Box::into_raw(view).cast::<ffi::Py_buffer>()) };
        Some(Self { object: object.clone(), view })
    }

    /// Whether the format describes Python objects: by an `O`, which is not in the name of a field.
    fn has_objects(&self) -> bool {
        if self.view.format.is_null() {
            return false;
        }
        // SAFETY: a C string, which lives as long as the view.
        let format = unsafe { CStr::from_ptr(self.view.format) }.to_bytes();
        format.split(|byte| *byte == b':').step_by(2).any(|part| part.contains(&b'O'))
    }

    fn bytes(&self) -> &[u8] {
        let size = usize::try_from(self.view.len).unwrap_or(0);
        if size == 0 {
            return &[];
        }
        // SAFETY: the object keeps this many bytes valid until the view is released; they are only
        // copied from, and other threads may write to them, as everywhere in Python.
        unsafe { std::slice::from_raw_parts(self.view.buf.cast(), size) }
    }
}

/// pyarrow's error for an object without contiguous bytes, and what to do.
fn without_bytes(error: PyErr, object: &Bound<'_, PyAny>) -> PyErr {
    let py = object.py();
    match error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py) {
        true => explained(error, Wanted::Bytes, object),
        false => error,
    }
}

fn objects_error(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name().map_or_else(|_| "it".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "{name} holds Python objects, whose addresses mean nothing on a device: convert them to \
         numbers, such as by astype(float), or to an Arrow array by pyarrow.array"
    ))
}

impl Drop for Exported<'_> {
    fn drop(&mut self) {
        // SAFETY: released once, with the GIL, which the object's borrow shows.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
    }
}
