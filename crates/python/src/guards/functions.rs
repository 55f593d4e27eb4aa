//! Guards of compiled functions and methods, in place.
//!
//! Python calls a function that Cython has compiled by a pointer in the function object.  A guard puts another
//! pointer there, so it acts for whoever has the function, and however long: a program that imported it before
//! this package, a `functools.partial`, a bound method.  All else about the function stays as it is.

use super::guard::{Call, Guard, PyObject_Vectorcall, Vectorcall, call_by};
use super::places::word;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Where a type has `tp_vectorcall_offset`, in words; and where functions of C have their `vectorcall`, in bytes, as
/// those of Cython do.
const VECTORCALL_OFFSET: usize = 7;
const VECTORCALL: usize = 48;

struct Guarded {
    guard: Py<Guard>,
    original: Vectorcall,
    unguarded: Py<Unguarded>,
}

/// By the addresses of the functions, which live as long as this: an entry owns a share of its function.
static GUARDED: LazyLock<RwLock<HashMap<usize, &'static Guarded>>> = LazyLock::new(RwLock::default);

fn guarded(function: usize) -> Option<&'static Guarded> {
    GUARDED.read().unwrap_or_else(PoisonError::into_inner).get(&function).copied()
}

/// Has a guard act in all calls of a compiled function.  Returns false for a function of another kind.
#[pyfunction(name = "_guard_function")]
pub(super) fn guard_function(function: &Bound<'_, PyAny>, guard: Py<Guard>) -> PyResult<bool> {
    let class = function.get_type();
    if class.name()? != "cython_function_or_method" {
        return Ok(false);
    }
    let address = function.as_ptr().addr();
    if guarded(address).is_some() {
        return Ok(true);
    }
    // SAFETY: a live type, and a live function, whose pointer is written only where Python has it.
    unsafe {
        let offset = *word(class.as_ptr(), VECTORCALL_OFFSET) as usize;
        let place = word(function.as_ptr(), VECTORCALL / size_of::<usize>());
        if offset != VECTORCALL
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
        let unguarded =
            Py::new(function.py(), Unguarded { function: function.clone().unbind(), original })?;
        let entry = Box::leak(Box::new(Guarded { guard, original, unguarded }));
        GUARDED.write().unwrap_or_else(PoisonError::into_inner).insert(address, entry);
        *place = called as *mut c_void;
    }
    Ok(true)
}

/// A guarded function without its guard; none for a function that has no guard.
#[pyfunction(name = "_unguarded")]
pub(super) fn unguarded(function: &Bound<'_, PyAny>) -> Option<Py<Unguarded>> {
    guarded(function.as_ptr().addr()).map(|it| it.unguarded.clone_ref(function.py()))
}

/// A bit in the count of arguments: the callee may use the place before the first.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

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
    // Put there before the pointer.  Without an exception, Python raises one.
    let Some(guarded) = guarded(function.addr()) else { return std::ptr::null_mut() };
    // SAFETY: guaranteed by the caller.  This frame drops nothing while the function runs, so that the end of the thread
    // unwinds it as it does pyarrow's own.
    unsafe {
        match guarded.outcome(function, arguments, count & !ARGUMENTS_OFFSET, names) {
            Some(result) => result,
            None => (guarded.original)(function, arguments, count, names),
        }
    }
}

impl Guarded {
    /// The result of a call that becomes another one, or null and an exception; none if the function is to be called
    /// as it is.
    ///
    /// # Safety
    ///
    /// As Python calls a `vectorcallfunc`, but with a mere count.
    unsafe fn outcome(
        &self,
        function: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> Option<*mut ffi::PyObject> {
        Python::attach(|py| {
            // SAFETY: a tuple, if any; as many arguments as were counted, and behind them one for each name.
            let (names, arguments) = unsafe {
                let names = Bound::from_borrowed_ptr_or_opt(py, names);
                let names = names.map(|names| names.cast_into_unchecked::<PyTuple>());
                let named = names.as_ref().map_or(0, PyTupleMethods::len);
                (names, std::slice::from_raw_parts(arguments, count + named))
            };
            // SAFETY: live objects, which the caller owns.
            let object = |each: &*mut ffi::PyObject| unsafe { Bound::from_borrowed_ptr(py, *each) };
            let arguments = arguments.iter().map(object);
            let names = names.as_ref();
            match self.guard.get().call(py, &arguments, names) {
                Ok(Call::Unchanged) => None,
                Ok(Call::With(used)) => {
                    // SAFETY: the function's own, with arguments in the same places.
                    Some(unsafe { call_by(self.original, function, &used, names) })
                }
                Ok(Call::Instead(handler)) => {
                    let unguarded = self.unguarded.bind(py).clone().into_any();
                    let all: Vec<_> = std::iter::once(unguarded).chain(arguments).collect();
                    // SAFETY: a callable, and live arguments.
                    Some(unsafe { call_by(PyObject_Vectorcall, handler.as_ptr(), &all, names) })
                }
                Err(error) => {
                    error.restore(py);
                    Some(std::ptr::null_mut())
                }
            }
        })
    }
}

/// A guarded function without its guard.
#[pyclass(frozen, module = "pyarrow_cuda_compat._native", name = "_Unguarded")]
pub(super) struct Unguarded {
    function: Py<PyAny>,
    original: Vectorcall,
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
        let mut all: Vec<_> = arguments.iter().collect();
        let names = keywords.map(|keywords| {
            all.extend(keywords.values());
            keywords.keys().to_tuple()
        });
        // SAFETY: the function's own; the result is a new reference, or null and an exception.
        unsafe {
            let result = call_by(self.original, self.function.as_ptr(), &all, names.as_ref());
            Bound::from_owned_ptr_or_err(py, result)
        }
    }

    /// Other attributes are the function's: its name.
    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(name.py()).getattr(name)
    }
}

unsafe extern "C" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}
