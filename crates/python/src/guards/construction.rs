//! Guards the construction of compiled classes in place.
//!
//! To construct an object of a compiled class, Python does not look up `__new__` and `__init__`.  It calls the
//! functions in the slots of the type.  A guard puts its own function into such a slot, also in the classes that
//! have inherited it.

use super::cpython_slots::{PyVectorcall_Function, found, heirs, word};
use super::guard::Guard;
use super::may_contain::are_lazy;
use crate::interpreter::hang_if_ended;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{LazyLock, PoisonError, RwLock};

/// Where CPython 3.11 to 3.14 have slots in a type, and the descriptor of `__init__` the slot's content, in words.
const INIT: usize = 37;
const NEW: usize = 39;
const VECTORCALL: usize = 50;
const WRAPPED: usize = 6;

/// A `newfunc` or an `initproc`, in which the thread may be unwound: see `interpreter/daemon_threads.rs`.
type Slot<R> = unsafe extern "C-unwind" fn(
    class_or_object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> R;

struct Guarded {
    guard: Py<Guard>,
    original: *mut c_void,
}

// SAFETY: the function may be called from every thread that has the GIL.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

/// By the addresses of the classes, which are never freed.
static GUARDED: LazyLock<RwLock<HashMap<usize, &'static Guarded>>> = LazyLock::new(RwLock::default);

fn guarded(class: usize) -> Option<&'static Guarded> {
    GUARDED.read().unwrap_or_else(PoisonError::into_inner).get(&class).copied()
}

/// Has a guard act when an object of a compiled class is constructed.
#[pyfunction(name = "_guard_construction")]
pub(super) fn guard_construction(class: &Bound<'_, PyType>, guard: Py<Guard>) -> PyResult<()> {
    if guarded(class.as_ptr().addr()).is_some() {
        return Ok(());
    }
    let namespace = class.getattr("__dict__")?;
    let by_init = namespace.contains("__init__")?;
    let (slot, index, ours) = match by_init {
        true => (ffi::Py_tp_init, INIT, init as *mut c_void),
        false => (ffi::Py_tp_new, NEW, new as *mut c_void),
    };
    // SAFETY: live types and a live descriptor, and the GIL is held, so that nobody else uses the slots; each is
    // written only where Python has it.
    unsafe {
        let original = ffi::PyType_GetSlot(class.as_type_ptr(), slot);
        let place = found(class, word(class.as_ptr(), index), original)?;
        let vectorcall = PyVectorcall_Function(class.as_ptr());
        let vectorcall = found(class, word(class.as_ptr(), VECTORCALL), vectorcall)?;
        if by_init {
            // What `super().__init__` finds.
            let descriptor = namespace.get_item("__init__")?;
            *found(class, word(descriptor.as_ptr(), WRAPPED), original)? = ours;
        }
        let entry = Box::leak(Box::new(Guarded { guard, original }));
        GUARDED
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(class.as_ptr().addr(), entry);
        *place = ours;
        *vectorcall = std::ptr::null_mut(); // it would lead past the slots
        ffi::PyType_Modified(class.as_type_ptr());
        for heir in heirs(class)? {
            let place = word(heir.as_ptr(), index);
            if *place == original {
                *place = ours;
            }
        }
    }
    Ok(())
}

/// # Safety
///
/// As Python calls a `newfunc`.
unsafe extern "C-unwind" fn new(
    class: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: guaranteed by the caller.
    unsafe { construct(class, class, arguments, keywords, std::ptr::null_mut()) }
}

/// # Safety
///
/// As Python calls an `initproc`.
unsafe extern "C-unwind" fn init(
    object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { construct(ffi::Py_TYPE(object).cast(), object, arguments, keywords, -1) }
}

/// Calls what the slot of a class, or of one that it extends, had.
///
/// # Safety
///
/// As Python calls the slot, whose result is an `R`.
unsafe fn construct<R>(
    class: *mut ffi::PyObject,
    class_or_object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
    failure: R,
) -> R {
    // SAFETY: guaranteed by the caller, for other arguments, too.
    let call = |original: *mut c_void, arguments, keywords| unsafe {
        let original = std::mem::transmute::<*mut c_void, Slot<R>>(original);
        original(class_or_object, arguments, keywords)
    };
    let original = Python::attach(|py| {
        // SAFETY: a live type, a tuple, and a dict or null.
        let (class, arguments, keywords) = unsafe {
            let class = Bound::from_borrowed_ptr(py, class).cast_into_unchecked::<PyType>();
            let arguments = Bound::from_borrowed_ptr(py, arguments);
            let keywords = Bound::from_borrowed_ptr_or_opt(py, keywords);
            let keywords = keywords.map(|named| named.cast_into_unchecked::<PyDict>());
            (class, arguments.cast_into_unchecked::<PyTuple>(), keywords)
        };
        let guarded = class.mro().iter().find_map(|base| guarded(base.as_ptr().addr()));
        // Put there before the slot is written.  Without an exception, Python raises one.
        let Some(guarded) = guarded else { return Err(failure) };
        let none = py.None().into_bound(py);
        let changed = || -> PyResult<_> {
            let named = || keywords.iter().flat_map(PyDictMethods::values);
            let given = || arguments.iter().chain(named());
            let Some(walk) = guarded.guard.get().walk(&none, || are_lazy(given()))? else {
                return Ok((None, None));
            };
            let named = keywords.as_ref().map(|named| walk.visit(named)).transpose()?;
            Ok((walk.visit(&arguments)?, named.flatten()))
        };
        match changed() {
            Ok((None, None)) => Ok(guarded.original),
            Ok((used, named)) => {
                let keywords = named.or(keywords.map(Bound::into_any));
                let arguments = used.unwrap_or_else(|| arguments.into_any());
                let keywords = keywords.as_ref().map_or(std::ptr::null_mut(), Bound::as_ptr);
                Err(hang_if_ended(|| call(guarded.original, arguments.as_ptr(), keywords)))
            }
            Err(error) => {
                error.restore(py);
                Err(failure)
            }
        }
    });
    match original {
        // This frame drops nothing while it runs.
        Ok(original) => call(original, arguments, keywords),
        Err(result) => result,
    }
}
