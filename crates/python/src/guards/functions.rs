//! Intercepts calls of compiled functions and methods in place.
//!
//! Python calls a function that Cython has compiled through a pointer in the function object.  This module replaces
//! that pointer.  So the guard also works for a program that imported the function before this package, and for a
//! `functools.partial` or a bound method of it.  Nothing else about the function changes.

use super::cpython_slots::{PyVectorcall_Function, word};
use crate::interpreter::hang_if_ended;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::ffi::c_void;

/// A `vectorcallfunc`.  The thread may be unwound in it: see `interpreter/daemon_threads.rs`.
pub(super) type Vectorcall = unsafe extern "C-unwind" fn(
    callable: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Where a type has `tp_vectorcall_offset`, and functions of C have their definition and their `vectorcall`, as those
/// of Cython do, in words.
const VECTORCALL_OFFSET: usize = 7;
const DEFINITION: usize = 2;
const VECTORCALL: usize = 6;

/// A replacement that is called instead of a function.
pub(super) trait Intercept: Send + Sync {
    /// # Safety
    ///
    /// As Python calls a `vectorcallfunc`.  The frame drops nothing while the function runs, so that the end of the
    /// thread unwinds it as it does pyarrow's own.
    unsafe extern "C-unwind" fn call(
        &self,
        original: &Py<Unguarded>,
        function: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}

/// Stands in the place of a function's definition, where a call finds it, and is never freed.
#[repr(C)]
struct Guarded {
    definition: ffi::PyMethodDef,
    interceptor: Box<dyn Intercept>,
    unguarded: Py<Unguarded>,
}

/// The entry of a guarded function; none for one that has no guard.
///
/// # Safety
///
/// A live function of Cython.
unsafe fn guarded(function: *mut ffi::PyObject) -> Option<&'static Guarded> {
    // SAFETY: guaranteed by the caller; both pointers are written together.
    unsafe {
        let is_guarded = *word(function, VECTORCALL) == called as *mut c_void;
        is_guarded.then(|| &*(*word(function, DEFINITION)).cast::<Guarded>())
    }
}

/// Intercepts all calls of a compiled function.  Returns false for a function of another kind.
pub(super) fn intercept(
    function: &Bound<'_, PyAny>,
    interceptor: Box<dyn Intercept>,
) -> PyResult<bool> {
    if !is_of_cython(function)? {
        return Ok(false);
    }
    // SAFETY: a live function, whose pointers are written only where Python has them, and the GIL is held.
    unsafe {
        if guarded(function.as_ptr()).is_some() {
            return Ok(true);
        }
        let offset = *word(function.get_type().as_ptr(), VECTORCALL_OFFSET) as usize;
        let place = word(function.as_ptr(), VECTORCALL);
        if offset != VECTORCALL * size_of::<usize>()
            || *place != PyVectorcall_Function(function.as_ptr())
            || (*place).is_null()
        {
            return Err(PyImportError::new_err(format!(
                "{} is not laid out as Cython's functions are, so it cannot be guarded: use one of the supported \
                 pyarrows, or set PYARROW_CUDA_HOOK=0 to leave pyarrow as it is",
                function.repr()?
            )));
        }
        let original = std::mem::transmute::<*mut c_void, Vectorcall>(*place);
        let unguarded = Unguarded { function: function.clone().unbind(), original };
        let unguarded = Py::new(function.py(), unguarded)?;
        let definition = word(function.as_ptr(), DEFINITION);
        let known = *(*definition).cast::<ffi::PyMethodDef>();
        let entry = Box::new(Guarded { definition: known, interceptor, unguarded });
        *definition = Box::into_raw(entry).cast();
        *place = called as *mut c_void;
    }
    Ok(true)
}

fn is_of_cython(function: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(function.get_type().name()? == "cython_function_or_method")
}

/// A guarded function without its guard; none for a function that has no guard.
#[pyfunction(name = "_unguarded")]
pub(super) fn unguarded(function: &Bound<'_, PyAny>) -> PyResult<Option<Py<Unguarded>>> {
    if !is_of_cython(function)? {
        return Ok(None);
    }
    // SAFETY: a live function of Cython.
    let found = unsafe { guarded(function.as_ptr()) };
    Ok(found.map(|it| it.unguarded.clone_ref(function.py())))
}

/// Calls a guarded function.
///
/// # Safety
///
/// As Python calls a `vectorcallfunc`.
unsafe extern "C-unwind" fn called(
    function: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: guaranteed by the caller.
    unsafe {
        // Without an exception, Python raises one.
        let Some(guarded) = guarded(function) else { return std::ptr::null_mut() };
        guarded.interceptor.call(&guarded.unguarded, function, arguments, count, names)
    }
}

/// A guarded function without its guard.
#[pyclass(frozen, module = "pyarrow_cuda_compat._native", name = "_Unguarded")]
pub(super) struct Unguarded {
    function: Py<PyAny>,
    pub(super) original: Vectorcall,
}

#[pymethods]
impl Unguarded {
    #[pyo3(signature = (*arguments, **keywords))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let positional = arguments.len();
        let (values, names) = match keywords {
            Some(keywords) => (Some(keywords.values()), Some(keywords.keys().to_tuple())),
            None => (None, None),
        };
        let all = arguments.iter_borrowed().map(Borrowed::as_ptr);
        let named = values.iter().flatten().map(|each| each.as_ptr());
        let all: Vec<_> = all.chain(named).collect();
        let names = names.as_ref().map_or(std::ptr::null_mut(), Bound::as_ptr);
        // SAFETY: the function's own; the result is a new reference, or null and an exception.
        unsafe {
            let result = call_by(self.original, self.function.as_ptr(), &all, positional, names);
            Bound::from_owned_ptr_or_err(py, result)
        }
    }

    /// Other attributes are the function's: its name.
    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(name.py()).getattr(name)
    }
}

/// Calls an object by a function that Python would call it by.
///
/// # Safety
///
/// As for a call by Python: `count` of the arguments have no name.
pub(super) unsafe fn call_by(
    function: Vectorcall,
    callable: *mut ffi::PyObject,
    arguments: &[*mut ffi::PyObject],
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: guaranteed by the caller.
    unsafe { hang_if_ended(|| function(callable, arguments.as_ptr(), count, names)) }
}

unsafe extern "C-unwind" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    pub(super) fn PyObject_Vectorcall(
        callable: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}
