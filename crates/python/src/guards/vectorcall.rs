//! Classes whose objects Python calls by its vectorcall protocol.
//!
//! The arguments then reach pyarrow's function as they came, without a tuple and a dict made of them.  `PyO3` makes no
//! such classes, but a class made here may extend one of `PyO3`'s.

use pyo3::ffi::{self, PyType_Slot, PyType_Spec};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_uint, c_void};

/// A `vectorcallfunc`.  The thread may be unwound in it: see `interpreter/daemon_threads.rs`.
pub(super) type Vectorcall = unsafe extern "C-unwind" fn(
    callable: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Not in `PyO3` for the limited API of 3.11.
const HAVE_VECTORCALL: c_uint = 1 << 11;
const METHOD_DESCRIPTOR: c_uint = 1 << 17;
/// A bit in the count of arguments: the callee may use the place before the first.
pub(super) const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// A class that extends `methods`.  Its objects have a `Vectorcall` at `offset`, in bytes.
///
/// # Safety
///
/// The objects of `methods` have one there.
pub(super) unsafe fn class<'py>(
    methods: &Bound<'py, PyType>,
    offset: usize,
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
            offset as ffi::Py_ssize_t,
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
    // SAFETY: the specification is complete, and Python copies the parts of it that are not static.
    unsafe {
        let made = ffi::PyType_FromSpecWithBases(&raw mut spec, methods.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(methods.py(), made)?.cast_into::<PyType>()?)
    }
}

unsafe extern "C-unwind" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    pub(super) fn PyObject_Vectorcall(
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
