//! Guards of compiled functions and methods.

use super::assertions::Trusted;
use super::computing::compute;
use super::functions::{Intercept, PyObject_Vectorcall, Unguarded, call_by, intercept};
use super::guard::{Call, Guard};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Has a guard act in all calls of a compiled function.  Returns false for a function of another kind.
#[pyfunction(name = "_guard_function")]
pub(super) fn guard_function(function: &Bound<'_, PyAny>, guard: Py<Guard>) -> PyResult<bool> {
    intercept(function, Box::new(guard))
}

/// A bit in the count of arguments: the callee may use the place before the first.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

impl Intercept for Py<Guard> {
    unsafe extern "C-unwind" fn call(
        &self,
        unguarded: &Py<Unguarded>,
        function: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (guard, original) = (self.get(), unguarded.get().original);
            if guard.is_for_results() {
                return guard.made_of(original(function, arguments, count, names), arguments);
            }
            if guard.is_for_refusals() {
                return guard.answer_of(original(function, arguments, count, names), arguments);
            }
            match outcome(guard, unguarded, function, arguments, count & !ARGUMENTS_OFFSET, names) {
                Some(result) => result,
                None => original(function, arguments, count, names),
            }
        }
    }
}

/// The result of a call that becomes another one, or null and an exception; none if the call
/// stays as it is.
///
/// # Safety
///
/// As Python calls a `vectorcallfunc`, but with a mere count.
unsafe fn outcome(
    guard: &Guard,
    unguarded: &Py<Unguarded>,
    function: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> Option<*mut ffi::PyObject> {
    Python::attach(|py| {
        // SAFETY: a tuple, if any; as many arguments as were counted, and after them one for each name.
        let (named, given) = unsafe {
            let named = Bound::from_borrowed_ptr_or_opt(py, names);
            let named = named.map(|names| names.cast_into_unchecked::<PyTuple>());
            let more = named.as_ref().map_or(0, PyTupleMethods::len);
            (named, std::slice::from_raw_parts(arguments, count + more))
        };
        // SAFETY: live objects, which the caller owns.
        let object = |each: &*mut ffi::PyObject| unsafe { Bound::from_borrowed_ptr(py, *each) };
        let instead = |handler: &Bound<'_, PyAny>, given: &[*mut ffi::PyObject]| {
            let mut all = Vec::with_capacity(1 + given.len());
            all.push(unguarded.as_ptr());
            all.extend_from_slice(given);
            // SAFETY: a callable, and live arguments.
            unsafe { call_by(PyObject_Vectorcall, handler.as_ptr(), &all, count + 1, names) }
        };
        let failed = |error: PyErr| {
            error.restore(py);
            std::ptr::null_mut()
        };
        match guard.call(py, &given.iter().map(object), named.as_ref()) {
            Ok(Call::Unchanged) => None,
            Ok(Call::With(used)) => {
                let used: Vec<_> = used.iter().map(Bound::as_ptr).collect();
                let original = unguarded.get().original;
                // SAFETY: the function's own, with arguments in the same places.
                Some(unsafe { call_by(original, function, &used, count, names) })
            }
            Ok(Call::Trusting(object)) => {
                let trusted = Trusted::begin(object.as_ptr().addr());
                // SAFETY: the function's own, with its own arguments.
                let result =
                    unsafe { call_by(unguarded.get().original, function, given, count, names) };
                drop(trusted);
                Some(result)
            }
            Ok(Call::Answered(result)) => Some(result.into_ptr()),
            Ok(Call::Instead(handler)) => Some(instead(&handler, given)),
            Ok(Call::Computed(handler, context, used)) => {
                let used: Vec<_> = used.iter().map(Bound::as_ptr).collect();
                // SAFETY: a new reference, or null and an exception.
                let call = || unsafe { Bound::from_owned_ptr_or_err(py, instead(&handler, &used)) };
                Some(compute(py, context, call).map_or_else(failed, Bound::into_ptr))
            }
            Err(error) => Some(failed(error)),
        }
    })
}
