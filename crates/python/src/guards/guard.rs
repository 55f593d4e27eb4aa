//! The callable that stands in a function's place.

use super::shortcut::{Shortcut, called, class};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// Calls a function of pyarrow's, or `elsewhere` with that function, the positional and the named
/// arguments where data of an argument may lie on a device.
///
/// As an attribute of a class it is a method.
#[pyclass(
    frozen,
    dict,
    weakref,
    subclass,
    name = "_GuardMethods",
    module = "pyarrow_cuda_compat._native"
)]
pub(super) struct Guard {
    /// Where Python finds how to call it.
    pub(super) shortcut: Shortcut,
    pub(super) function: Py<PyAny>,
    pub(super) elsewhere: Py<PyAny>,
}

#[pymethods]
impl Guard {
    #[new]
    fn new(function: Py<PyAny>, elsewhere: Py<PyAny>) -> Self {
        Self { shortcut: called, function, elsewhere }
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

    /// What it does not have itself is the function's: its code, its defaults.
    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(name.py()).getattr(name)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<guarded {}>", slf.get().function.bind(slf.py()).repr()?))
    }
}

/// The class of guards: with the methods above, and called by the shortcut.
pub(super) fn guards(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let example = Bound::new(py, Guard::new(py.None(), py.None()))?;
    let place = (&raw const example.get().shortcut).addr() - example.as_ptr().addr();
    class(&example.get_type(), place)
}

unsafe extern "C" {
    /// Not part of the limited API, but exported by every CPython with this signature.
    fn PyMethod_New(function: *mut ffi::PyObject, object: *mut ffi::PyObject)
    -> *mut ffi::PyObject;
}
