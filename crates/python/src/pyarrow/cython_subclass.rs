//! Subclasses of Cython classes of pyarrow, with methods from this extension.
//!
//! PyO3 cannot extend a Cython class.  But a PyO3 class without fields adds nothing to an object's layout.  So a new
//! class can have two bases: the PyO3 class, and pyarrow's.  The `#[pymethods]` of the first come first in the
//! method resolution order, and the layout is pyarrow's alone.  The new class also defines these members itself, so
//! that it looks like any other class.

use crate::pyarrow::members::{documented, members};
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyType_Slot, PyType_Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyTuple, PyType};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};

/// The name, docstring and constructor of the new class.
pub(crate) struct Class {
    pub(crate) name: &'static CStr,
    pub(crate) signature: &'static str,
    pub(crate) doc: &'static CStr,
    pub(crate) new: ffi::newfunc,
}

/// Slots of special methods that the class with the methods may have.
const OF_THE_METHODS: [c_int; 2] = [ffi::Py_mp_subscript, ffi::Py_bf_getbuffer];

/// Slots that would otherwise come from `object`, by way of the class with the methods.
const OF_THE_BASE: [c_int; 4] =
    [ffi::Py_tp_repr, ffi::Py_tp_str, ffi::Py_tp_richcompare, ffi::Py_tp_hash];

/// Makes the class, with the methods of `methods`.
pub(crate) fn make<Methods: PyClass>(
    methods: Methods,
    base: &Bound<'_, PyType>,
    class: &Class,
) -> PyResult<Py<PyType>>
where
    PyClassInitializer<Methods>: From<Methods>,
{
    let py = base.py();
    let methods = Bound::new(py, methods)?.into_any();
    let members = members(&methods)?;
    let methods = methods.get_type();
    let name = methods.name()?.to_string();
    let doc = documented(&name, Some(class.signature), &class.doc.to_string_lossy());
    let doc = CString::new(doc)?;
    let bases = PyTuple::new(py, [methods.as_any(), base.as_any()])?;
    let mut slots = vec![
        PyType_Slot { slot: ffi::Py_tp_new, pfunc: class.new as *mut c_void },
        PyType_Slot { slot: ffi::Py_tp_doc, pfunc: doc.as_ptr().cast_mut().cast() },
        PyType_Slot { slot: ffi::Py_tp_methods, pfunc: members.methods.as_ptr() as *mut c_void },
        PyType_Slot { slot: ffi::Py_tp_getset, pfunc: members.properties.as_ptr() as *mut c_void },
    ];
    let of_the_methods = OF_THE_METHODS.map(|slot| (slot, &methods));
    for (slot, owner) in of_the_methods.into_iter().chain(OF_THE_BASE.map(|slot| (slot, base))) {
        // SAFETY: a live type.
        let pfunc = unsafe { ffi::PyType_GetSlot(owner.as_type_ptr(), slot) };
        if !pfunc.is_null() {
            slots.push(PyType_Slot { slot, pfunc });
        }
    }
    // The method resolution order should not have two classes of one name.
    methods.setattr("__qualname__", format!("_{name}Methods"))?;
    methods.setattr("__name__", format!("_{name}Methods"))?;
    slots.push(PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() });
    let mut spec = PyType_Spec {
        name: class.name.as_ptr(),
        basicsize: 0, // the base's
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete; Python copies the docstring, and all other strings
    // and definitions are static.
    unsafe {
        let made = ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into::<PyType>()?.unbind())
    }
}

/// A fresh object of such a class, or of a Python class that extends it, as pyarrow's own
/// constructor makes it: to be initialised before anybody sees it.
pub(crate) fn new_instance<'py>(
    class: &Bound<'py, PyType>,
    base: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    let nothing = PyTuple::empty(class.py());
    // SAFETY: the base is a Cython class, which always has a `tp_new`; it takes the class, no
    // positional arguments and no keywords.
    unsafe {
        let new = ffi::PyType_GetSlot(base.as_type_ptr(), ffi::Py_tp_new);
        let new: ffi::newfunc = std::mem::transmute(new);
        let object = new(class.as_type_ptr(), nothing.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(class.py(), object)
    }
}

/// Refuses a Python class that extends another pyarrow class besides `ours`, whose methods would find
/// uninitialised fields.
pub(crate) fn check_bases(
    class: &Bound<'_, PyType>,
    ours: &Bound<'_, PyType>,
    base: &Bound<'_, PyType>,
) -> PyResult<()> {
    for ancestor in class.mro() {
        let ancestor = ancestor.cast_into::<PyType>()?;
        let is_foreign = ancestor.is_subclass(base)? && !ancestor.is(base);
        if is_foreign && !ancestor.is_subclass(ours)? {
            return Err(PyTypeError::new_err(format!(
                "multiple bases have instance lay-out conflict: {} and {}",
                ours.name()?,
                ancestor.fully_qualified_name()?
            )));
        }
    }
    Ok(())
}

/// A constructor's body: the class, and its positional and named arguments.
pub(crate) type Constructor = for<'py> fn(
    &Bound<'py, PyType>,
    &Bound<'py, PyTuple>,
    Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>>;

/// Runs a constructor's body for Python: an error is raised, a result handed over.
///
/// # Safety
///
/// To be called as a type's `tp_new`, with its arguments.
pub(crate) unsafe fn construct(
    class: *mut ffi::PyTypeObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
    body: Constructor,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        // SAFETY: guaranteed by the caller: a type, a tuple, and a dict or null.
        let made = unsafe {
            let class = Bound::from_borrowed_ptr(py, class.cast());
            let arguments = Bound::from_borrowed_ptr(py, arguments);
            let keywords = Bound::from_borrowed_ptr_or_opt(py, keywords);
            body(
                class.cast_unchecked(),
                arguments.cast_unchecked(),
                keywords.as_ref().map(|keywords| keywords.cast_unchecked()),
            )
        };
        match made {
            Ok(object) => object.into_ptr(),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

/// A type's `tp_new` that runs a constructor's body.
macro_rules! constructor {
    ($body:expr) => {{
        unsafe extern "C" fn new(
            class: *mut pyo3::ffi::PyTypeObject,
            arguments: *mut pyo3::ffi::PyObject,
            keywords: *mut pyo3::ffi::PyObject,
        ) -> *mut pyo3::ffi::PyObject {
            // SAFETY: Python calls this as `tp_new`.
            unsafe { crate::pyarrow::cython_subclass::construct(class, arguments, keywords, $body) }
        }
        new
    }};
}
pub(crate) use constructor;

/// The one argument of a constructor, by position or by name.
pub(crate) fn only_argument<'py>(
    function: &str,
    name: &str,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = arguments.len() + keywords.map_or(0, PyDictMethods::len);
    let named = match keywords {
        Some(keywords) => keywords.get_item(name)?,
        None => None,
    };
    match named.or_else(|| arguments.get_item(0).ok()) {
        Some(value) if given == 1 => Ok(value),
        _ => Err(PyTypeError::new_err(format!(
            "{function}() takes exactly one argument '{name}' ({given} given)"
        ))),
    }
}
