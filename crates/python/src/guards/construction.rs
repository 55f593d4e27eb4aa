//! Classes of pyarrow's whose construction takes data.
//!
//! To construct an object of a compiled class, Python looks up no method, but takes what slots of the
//! type have.  So the slots are written: `tp_new` and `tp_init` become functions that look at the
//! arguments, and then call what was there.  A shortcut past them, `tp_vectorcall`, is taken out.

use super::presence::any_may_be_on_device;
use crate::interpreter::{call_out, hang_if_ended};
use crate::pyarrow::not_started;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::{c_int, c_void};

/// How much of a type is searched for a slot, in words: `tp_vectorcall`, the last one, is the 51st in
/// CPython 3.11 to 3.14.
const WORDS: usize = 51;

/// A `newfunc`, in which the thread may be unwound: see `interpreter/outside.rs`.
type New = unsafe extern "C-unwind" fn(
    *mut ffi::PyTypeObject,
    *mut ffi::PyObject,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;
/// An `initproc`, likewise.
type Init = unsafe extern "C-unwind" fn(
    *mut ffi::PyObject,
    *mut ffi::PyObject,
    *mut ffi::PyObject,
) -> c_int;

/// What becomes of the construction of a class.
#[pyclass(frozen)]
struct Construction {
    /// What the class's slots had.
    new: New,
    init: Init,
    /// Called with the positional and the named arguments where data may lie on a device.  Returns
    /// those to be used in their place.
    elsewhere: Py<PyAny>,
}

/// Arguments of a constructor.
type Arguments<'py> = (Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>);

/// The `Construction` of each class whose slots were written.
static CONSTRUCTIONS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// Has `elsewhere(arguments, keywords)` called before an object of a class is made of data that may
/// lie on a device.  It returns the arguments to be used, or raises.  Returns whether the class could
/// be changed.
#[pyfunction]
#[pyo3(name = "_guard_construction")]
pub(crate) fn guard_construction(
    class: &Bound<'_, PyType>,
    elsewhere: Py<PyAny>,
) -> PyResult<bool> {
    let py = class.py();
    let constructions = CONSTRUCTIONS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if constructions.contains(class)? {
        return Ok(true);
    }
    // SAFETY: a live type, which has both slots, and the GIL is held, so that nobody else uses them.
    unsafe {
        let type_object = class.as_type_ptr();
        let new = place_of(class, ffi::PyType_GetSlot(type_object, ffi::Py_tp_new));
        let init = place_of(class, ffi::PyType_GetSlot(type_object, ffi::Py_tp_init));
        let (Some(new), Some(init)) = (new, init) else { return Ok(false) };
        // `object`'s own complains of arguments unless it finds itself in the slot.
        let of_object = ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_init);
        let shortcut = PyVectorcall_Function(class.as_ptr());
        if !shortcut.is_null() {
            let Some(place) = place_of(class, shortcut) else { return Ok(false) };
            *place = std::ptr::null_mut();
        }
        let construction = Construction {
            new: std::mem::transmute::<*mut c_void, New>(*new),
            init: std::mem::transmute::<*mut c_void, Init>(*init),
            elsewhere,
        };
        constructions.set_item(class, construction)?;
        *new = guarded_new as *mut c_void;
        if *init != of_object {
            *init = guarded_init as *mut c_void;
        }
        ffi::PyType_Modified(class.as_type_ptr());
    }
    Ok(true)
}

/// Where a type has something in a slot; none where that cannot be told.
///
/// # Safety
///
/// As long as the type is alive, nobody else may use the place.
unsafe fn place_of(class: &Bound<'_, PyType>, content: *mut c_void) -> Option<*mut *mut c_void> {
    // SAFETY: a live type, which is at least that large, and aligned.
    let words =
        unsafe { std::slice::from_raw_parts_mut(class.as_type_ptr().cast::<*mut c_void>(), WORDS) };
    let mut places = words.iter_mut().filter(|word| **word == content);
    match (places.next(), places.next()) {
        (Some(place), None) if !content.is_null() => Some(place),
        _ => None,
    }
}

unsafe extern "C" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}

/// A `tp_new`, of a class in `CONSTRUCTIONS` and of those that extend it.
unsafe extern "C" fn guarded_new(
    class: *mut ffi::PyTypeObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        // SAFETY: Python calls this as `tp_new`: with a type, a tuple, and a dict or null.
        let (class, arguments) = unsafe {
            let class = Bound::from_borrowed_ptr(py, class.cast());
            (class.cast_into_unchecked::<PyType>(), borrowed(py, arguments, keywords))
        };
        let made = checked(&class, arguments).and_then(|(construction, (given, named))| {
            let named = named.map_or(std::ptr::null_mut(), |named| named.as_ptr());
            // SAFETY: the slot's own function, with a tuple, and a dict or null.
            unsafe {
                let new = construction.get().new;
                let made = hang_if_ended(|| new(class.as_type_ptr(), given.as_ptr(), named));
                Bound::from_owned_ptr_or_err(py, made)
            }
        });
        made.map_or_else(
            |error| {
                error.restore(py);
                std::ptr::null_mut()
            },
            Bound::into_ptr,
        )
    })
}

/// A `tp_init`, of the same classes.
unsafe extern "C" fn guarded_init(
    object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> c_int {
    Python::attach(|py| {
        // SAFETY: Python calls this as `tp_init`: with an object, a tuple, and a dict or null.
        let (object, arguments) =
            unsafe { (Bound::from_borrowed_ptr(py, object), borrowed(py, arguments, keywords)) };
        let done = checked(&object.get_type(), arguments).map(|(construction, (given, named))| {
            let named = named.map_or(std::ptr::null_mut(), |named| named.as_ptr());
            let init = construction.get().init;
            // SAFETY: the slot's own function, with a tuple, and a dict or null.
            unsafe { hang_if_ended(|| init(object.as_ptr(), given.as_ptr(), named)) }
        });
        done.unwrap_or_else(|error| {
            error.restore(py);
            -1
        })
    })
}

/// # Safety
///
/// A live tuple, and a live dict or null.
unsafe fn borrowed<'py>(
    py: Python<'py>,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> Arguments<'py> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (
            Bound::from_borrowed_ptr(py, arguments).cast_into_unchecked::<PyTuple>(),
            Bound::from_borrowed_ptr_or_opt(py, keywords)
                .map(|keywords| keywords.cast_into_unchecked::<PyDict>()),
        )
    }
}

/// What a class's slots had, and the arguments for that.
fn checked<'py>(
    class: &Bound<'py, PyType>,
    arguments: Arguments<'py>,
) -> PyResult<(Bound<'py, Construction>, Arguments<'py>)> {
    let constructions = CONSTRUCTIONS.get(class.py()).ok_or_else(not_started)?.bind(class.py());
    for ancestor in class.mro().iter_borrowed() {
        let Some(found) = constructions.get_item(ancestor)? else { continue };
        let construction = found.cast_into::<Construction>()?;
        let (given, named) = &arguments;
        let named_values = named.iter().flatten().map(|(_, value)| value);
        if any_may_be_on_device(class.py(), given.iter().chain(named_values))? {
            let elsewhere = construction.get().elsewhere.bind(class.py());
            let used = call_out(elsewhere, arguments)?.extract()?;
            return Ok((construction, used));
        }
        return Ok((construction, arguments));
    }
    Err(not_started())
}
