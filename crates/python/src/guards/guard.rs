//! The callable that stands in a function's place.

use super::presence::any_may_be_on_device;
use crate::interpreter::{call_out, call_out_with};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Calls a function of pyarrow's, or `elsewhere` with that function, the positional and the named
/// arguments where data of an argument may lie on a device.
///
/// As an attribute of a class it is a method.
#[pyclass(frozen, dict, weakref, name = "_Guard", module = "pyarrow_cuda_compat._native")]
pub(crate) struct Guard {
    function: Py<PyAny>,
    elsewhere: Py<PyAny>,
}

#[pymethods]
impl Guard {
    #[new]
    fn new(function: Py<PyAny>, elsewhere: Py<PyAny>) -> Self {
        Self { function, elsewhere }
    }

    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__<'py>(
        &self,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = arguments.py();
        if any_may_be_on_device(arguments, keywords)? {
            return call_out(self.elsewhere.bind(py), (&self.function, arguments, keywords));
        }
        call_out_with(self.function.bind(py), arguments, keywords)
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.into_any());
        }
        let py = slf.py();
        // SAFETY: two live objects, and the GIL is held; the result is a new reference.
        unsafe { Bound::from_owned_ptr_or_err(py, PyMethod_New(slf.as_ptr(), object.as_ptr())) }
    }

    /// Pickles name the function, as they do any other.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        Ok(slf.getattr("__qualname__")?.cast_into()?)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<guarded {}>", slf.get().function.bind(slf.py()).repr()?))
    }
}

unsafe extern "C" {
    /// Not part of the limited API, but exported by every CPython with this signature.
    fn PyMethod_New(function: *mut ffi::PyObject, object: *mut ffi::PyObject)
    -> *mut ffi::PyObject;
}
