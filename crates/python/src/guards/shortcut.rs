//! How guards are called: by Python's vectorcall protocol.
//!
//! So the arguments go on to pyarrow's function as they came, without a tuple and a dict made of them.  `PyO3` has
//! no classes that are called so, but a class made here may extend one of them.

use super::guard::Guard;
use super::presence::any_may_be_on_device;
use crate::interpreter::call_out;
use pyo3::Borrowed;
use pyo3::ffi::{self, PyType_Slot, PyType_Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::{c_uint, c_void};

/// A `vectorcallfunc`.  The thread may be unwound in it: see `interpreter/outside.rs`.
pub(super) type Shortcut = unsafe extern "C-unwind" fn(
    callable: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Not in `PyO3` for the limited API of 3.11.
const HAVE_VECTORCALL: c_uint = 1 << 11;
const METHOD_DESCRIPTOR: c_uint = 1 << 17;
/// In the count of arguments: that the callee may use the place before the first.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// A class that extends `methods`, and whose objects are called by the shortcut at a place in them.
pub(super) fn class<'py>(
    methods: &Bound<'py, PyType>,
    place: usize,
) -> PyResult<Bound<'py, PyType>> {
    let member = |name, offset, type_code, flags| ffi::PyMemberDef {
        name,
        type_code,
        offset,
        flags,
        doc: std::ptr::null(),
    };
    let mut members = [
        member(
            c"__vectorcalloffset__".as_ptr(),
            place as ffi::Py_ssize_t,
            ffi::Py_T_PYSSIZET,
            ffi::Py_READONLY,
        ),
        member(std::ptr::null(), 0, 0, 0),
    ];
    let slot = |slot, pfunc| PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_call, PyVectorcall_Call as *mut c_void),
        slot(0, std::ptr::null_mut()),
    ];
    let mut spec = PyType_Spec {
        name: c"pyarrow_cuda_compat._native._Guard".as_ptr(),
        basicsize: 0, // the base's
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as c_uint | HAVE_VECTORCALL | METHOD_DESCRIPTOR,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete, and Python copies what is not static; the place holds a `Shortcut`.
    unsafe {
        let made = ffi::PyType_FromSpecWithBases(&raw mut spec, methods.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(methods.py(), made)?.cast_into::<PyType>()?)
    }
}

/// Calls a guard.
///
/// # Safety
///
/// As Python calls a `vectorcallfunc`.
pub(super) unsafe extern "C-unwind" fn called(
    guard: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: guaranteed by the caller.  Nothing here is to be dropped while the function runs, so the thread's end
    // leaves this frame as it does pyarrow's own.
    unsafe {
        match way(guard, arguments, count & !ARGUMENTS_OFFSET, names) {
            Way::Through(function) => PyObject_Vectorcall(function, arguments, count, names),
            Way::Done(result) => result,
        }
    }
}

/// Which way a call takes.
enum Way {
    /// To the function, with the arguments as they are.
    Through(*mut ffi::PyObject),
    /// It has taken the other one, and this is its result.
    Done(*mut ffi::PyObject),
}

/// # Safety
///
/// As Python calls a `vectorcallfunc`, but with a mere count.
unsafe fn way(
    guard: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> Way {
    Python::attach(|py| {
        // SAFETY: a guard; as many arguments as were counted, and behind them one for each name.
        let (guard, arguments, names) = unsafe {
            let guard = Borrowed::from_ptr(py, guard).cast_unchecked::<Guard>();
            let names = Borrowed::from_ptr_or_opt(py, names);
            let names = names.map(|names| names.cast_unchecked::<PyTuple>());
            let all = count + names.map_or(0, |names| names.len());
            (guard, std::slice::from_raw_parts(arguments, all), names)
        };
        // SAFETY: live objects, which the caller owns.
        let object = |each: &*mut ffi::PyObject| unsafe { Bound::from_borrowed_ptr(py, *each) };
        let guard = guard.get();
        let done = match any_may_be_on_device(py, arguments.iter().map(object)) {
            Ok(false) => return Way::Through(guard.function.as_ptr()),
            Ok(true) => {
                let (given, named) = arguments.split_at(count);
                let given = PyTuple::new(py, given.iter().map(object));
                let named = names.map(|names| keywords(names, named.iter().map(object)));
                given.and_then(|given| {
                    let arguments = (&guard.function, given, named.transpose()?);
                    call_out(guard.elsewhere.bind(py), arguments)
                })
            }
            Err(error) => Err(error),
        };
        Way::Done(done.map_or_else(
            |error| {
                error.restore(py);
                std::ptr::null_mut()
            },
            Bound::into_ptr,
        ))
    })
}

fn keywords<'py>(
    names: Borrowed<'_, 'py, PyTuple>,
    values: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(names.py());
    for (name, value) in names.iter_borrowed().zip(values) {
        keywords.set_item(name, value)?;
    }
    Ok(keywords)
}

unsafe extern "C-unwind" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    fn PyObject_Vectorcall(
        callable: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;

    /// The same.
    fn PyVectorcall_Call(
        callable: *mut ffi::PyObject,
        arguments: *mut ffi::PyObject,
        keywords: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}
