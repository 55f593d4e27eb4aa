//! The members of a PyO3 class, as definitions for another class.
//!
//! A class that merely inherits its methods shows none in `vars()`, and `help()` attributes them to
//! the base. This module gets the functions behind them from Python's C API.

use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyMappingProxy};
use std::ffi::{CString, c_char, c_int, c_void};

/// Definitions as a type's slots want them: never freed, and ended by a zeroed one.
pub(crate) struct Members {
    pub(crate) methods: &'static [ffi::PyMethodDef],
    pub(crate) properties: &'static [ffi::PyGetSetDef],
}

pub(crate) fn members(object: &Bound<'_, PyAny>) -> PyResult<Members> {
    let py = object.py();
    let namespace = object.get_type().getattr("__dict__")?;
    let copy = PyDict::new(py);
    copy.update(namespace.cast::<PyMappingProxy>()?.as_mapping())?;
    let mut methods = Vec::new();
    let mut properties = Vec::new();
    for (name, member) in copy {
        let name: String = name.extract()?;
        if is_property(&member) {
            properties.push(property(object, &name, &member)?);
        } else if let Ok(bound) = object.getattr(&*name)?.cast::<PyCFunction>() {
            methods.push(method(&name, bound)?);
        }
    }
    methods.push(ffi::PyMethodDef::zeroed());
    properties.push(ffi::PyGetSetDef::default());
    Ok(Members { methods: methods.leak(), properties: properties.leak() })
}

fn method(name: &str, bound: &Bound<'_, PyCFunction>) -> PyResult<ffi::PyMethodDef> {
    let doc: Option<String> = bound.getattr("__doc__")?.extract()?;
    let signature: Option<String> = bound.getattr("__text_signature__")?.extract()?;
    // SAFETY: a live function object.
    let (function, flags) = unsafe {
        (ffi::PyCFunction_GetFunction(bound.as_ptr()), ffi::PyCFunction_GetFlags(bound.as_ptr()))
    };
    let Some(function) = function else { return Err(PyErr::fetch(bound.py())) };
    Ok(ffi::PyMethodDef {
        ml_name: leaked(name)?,
        // The flags determine its actual signature.
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
        ml_flags: flags,
        ml_doc: leaked(&documented(name, signature.as_deref(), &doc.unwrap_or_default()))?,
    })
}

/// A docstring with a signature in front of it, where Python looks for one.
pub(crate) fn documented(name: &str, signature: Option<&str>, doc: &str) -> String {
    match signature {
        Some(signature) => format!("{name}{signature}\n--\n\n{doc}"),
        None => doc.to_owned(),
    }
}

/// A property's own descriptor, and what its type does with it.
struct Property {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
    set: ffi::descrsetfunc,
}

fn is_property(member: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a static type.
    unsafe { ffi::Py_IS_TYPE(member.as_ptr(), &raw mut ffi::PyGetSetDescr_Type) != 0 }
}

fn property(
    object: &Bound<'_, PyAny>,
    name: &str,
    descriptor: &Bound<'_, PyAny>,
) -> PyResult<ffi::PyGetSetDef> {
    let doc: Option<String> = descriptor.getattr("__doc__")?.extract()?;
    // A descriptor does not say whether it has a setter; one that has refuses the value.
    let refusal = object.setattr(name, object.py().None()).err();
    let is_read_only =
        refusal.is_some_and(|error| error.is_instance_of::<PyAttributeError>(object.py()));
    // SAFETY: the type of all properties has these slots, with functions of these types.
    let closure = unsafe {
        let slot = |slot| ffi::PyType_GetSlot(&raw mut ffi::PyGetSetDescr_Type, slot);
        let (get, set) = (slot(ffi::Py_tp_descr_get), slot(ffi::Py_tp_descr_set));
        Property {
            descriptor: descriptor.clone().unbind(),
            get: std::mem::transmute::<*mut c_void, ffi::descrgetfunc>(get),
            set: std::mem::transmute::<*mut c_void, ffi::descrsetfunc>(set),
        }
    };
    Ok(ffi::PyGetSetDef {
        name: leaked(name)?,
        get: Some(get),
        set: (!is_read_only).then_some(set),
        doc: leaked(&doc.unwrap_or_default())?,
        closure: std::ptr::from_mut(Box::leak(Box::new(closure))).cast(),
    })
}

unsafe extern "C" fn get(object: *mut ffi::PyObject, closure: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: the definition's own closure; Python calls with a live object.
    unsafe {
        let property = &*closure.cast::<Property>();
        (property.get)(property.descriptor.as_ptr(), object, ffi::Py_TYPE(object).cast())
    }
}

unsafe extern "C" fn set(
    object: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    closure: *mut c_void,
) -> c_int {
    // SAFETY: as above; the value is null for a deletion, which the slot takes as well.
    unsafe {
        let property = &*closure.cast::<Property>();
        (property.set)(property.descriptor.as_ptr(), object, value)
    }
}

fn leaked(text: &str) -> PyResult<*const c_char> {
    Ok(CString::new(text)?.into_raw())
}
