//! The callable that takes a function's place.

use super::vectorcall::{self, ARGUMENTS_OFFSET, PyObject_Vectorcall, Vectorcall};
use super::walk::Walk;
use crate::interpreter::hang_if_ended;
use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

/// Calls a function of pyarrow with the same arguments, unless one of them contains data on a device.
///
/// Then it calls the function with `handler(data, first argument)` in place of the data; or, if the guard
/// `substitutes`, it calls the handler instead of the function, with the function and all arguments.
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
struct Guard {
    /// Where Python finds how to call it.
    vectorcall: Vectorcall,
    function: Py<PyAny>,
    handler: Py<PyAny>,
    substitutes: bool,
}

#[pymethods]
impl Guard {
    #[new]
    fn new(function: Py<PyAny>, handler: Py<PyAny>, substitutes: bool) -> Self {
        Self { vectorcall: called, function, handler, substitutes }
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

    /// Other attributes are the function's: its code, its defaults.
    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(name.py()).getattr(name)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<guarded {}>", slf.get().function.bind(slf.py()).repr()?))
    }
}

/// The class of guards: with the methods above, and called by the vectorcall protocol.
pub(super) fn class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let example = Bound::new(py, Guard::new(py.None(), py.None(), false))?;
    let offset = (&raw const example.get().vectorcall).addr() - example.as_ptr().addr();
    // SAFETY: each guard has the function there.
    unsafe { vectorcall::class(&example.get_type(), offset) }
}

/// Calls a guard.
///
/// # Safety
///
/// As Python calls a `vectorcallfunc`.
unsafe extern "C-unwind" fn called(
    guard: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: guaranteed by the caller.  This frame drops nothing while the function runs, so that the end of the thread
    // unwinds it as it does pyarrow's own.
    unsafe {
        match outcome(guard, arguments, count & !ARGUMENTS_OFFSET, names) {
            Outcome::Unchanged(function) => PyObject_Vectorcall(function, arguments, count, names),
            Outcome::Called(result) => result,
        }
    }
}

enum Outcome {
    /// No argument contains data on a device: the function takes them as they are.
    Unchanged(*mut ffi::PyObject),
    /// The result of a call with other arguments, or null and an exception.
    Called(*mut ffi::PyObject),
}

/// # Safety
///
/// As Python calls a `vectorcallfunc`, but with a mere count.
unsafe fn outcome(
    guard: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> Outcome {
    Python::attach(|py| {
        // SAFETY: a guard; as many arguments as were counted, and behind them one for each name.
        let (guard, arguments) = unsafe {
            let guard = Borrowed::from_ptr(py, guard).cast_unchecked::<Guard>();
            let names = Borrowed::from_ptr_or_opt(py, names);
            let named = names.map_or(0, |names| names.cast_unchecked::<PyTuple>().len());
            (guard.get(), std::slice::from_raw_parts(arguments, count + named))
        };
        // SAFETY: live objects, which the caller owns.
        let object = |each: &*mut ffi::PyObject| unsafe { Bound::from_borrowed_ptr(py, *each) };
        let arguments = arguments.iter().map(object);
        let result = match guard.arguments(py, arguments) {
            Ok(None) => return Outcome::Unchanged(guard.function.as_ptr()),
            Ok(Some(used)) => {
                let (callable, extra) = match guard.substitutes {
                    true => (&guard.handler, 1),
                    false => (&guard.function, 0),
                };
                let used: Vec<_> = used.iter().map(Bound::as_ptr).collect();
                // SAFETY: live objects; the names are those of the last arguments, as before.
                unsafe {
                    hang_if_ended(|| {
                        PyObject_Vectorcall(callable.as_ptr(), used.as_ptr(), count + extra, names)
                    })
                }
            }
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        };
        Outcome::Called(result)
    })
}

impl Guard {
    /// The arguments of the call that replaces a guarded one; none if that one can be made.
    fn arguments<'py>(
        &self,
        py: Python<'py>,
        arguments: impl Iterator<Item = Bound<'py, PyAny>> + Clone,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let first = arguments.clone().next();
        let first = first.unwrap_or_else(|| py.None().into_bound(py));
        let handler = self.handler.bind(py);
        let action = (!self.substitutes).then_some((handler, &first));
        let Some(walk) = Walk::new(py, action)? else { return Ok(None) };
        let mut used: Option<Vec<_>> = None;
        for (number, argument) in arguments.clone().enumerate() {
            let found = walk.visit(&argument)?;
            if self.substitutes && found.is_some() {
                let function = self.function.bind(py).clone();
                return Ok(Some(std::iter::once(function).chain(arguments).collect()));
            }
            if let Some(found) = found {
                let used = used.get_or_insert_with(|| arguments.clone().collect());
                used.splice(number..=number, [found]);
            }
        }
        Ok(used)
    }
}

unsafe extern "C" {
    /// Not part of the limited API, but exported by every CPython with this signature.
    fn PyMethod_New(function: *mut ffi::PyObject, object: *mut ffi::PyObject)
    -> *mut ffi::PyObject;
}
