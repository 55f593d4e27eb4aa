//! Compiled classes whose construction takes data.
//!
//! To construct an object of a compiled class, Python looks up neither `__new__` nor `__init__`, but calls the functions
//! in the slots of the type.  Here the slot of one of them gets the function that the classes of Python code have: that
//! one calls the method in the class's namespace, where the package puts a guard.

use crate::interpreter::hang_if_ended;
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::{c_int, c_void};

/// Where CPython 3.11 to 3.14 have slots in a type object, in words.
const INIT: usize = 37;
const NEW: usize = 39;
const VECTORCALL: usize = 50;

/// A `newfunc`, in which the thread may be unwound: see `interpreter/daemon_threads.rs`.
type New = unsafe extern "C-unwind" fn(
    *mut ffi::PyTypeObject,
    *mut ffi::PyObject,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Has objects of a class constructed by the `__new__` or `__init__` in its namespace, as those of the class `example`
/// are.  Returns the compiled `__new__`, since the class's own now leads to the namespace again.
#[pyfunction(name = "_construct_by")]
pub(super) fn construct_by(
    class: &Bound<'_, PyType>,
    example: &Bound<'_, PyType>,
    name: &str,
) -> PyResult<CompiledNew> {
    let (index, slot) =
        if name == "__new__" { (NEW, ffi::Py_tp_new) } else { (INIT, ffi::Py_tp_init) };
    // SAFETY: two live types, and the GIL is held, so that nobody else uses the slots; each is written only where it
    // has been found.
    unsafe {
        let words = class.as_type_ptr().cast::<*mut c_void>();
        let place = found(class, words.add(index), slot_of(class, slot))?;
        let vectorcall =
            found(class, words.add(VECTORCALL), PyVectorcall_Function(class.as_ptr()))?;
        let new = std::mem::transmute::<*mut c_void, New>(slot_of(class, ffi::Py_tp_new));
        *place = slot_of(example, slot);
        *vectorcall = std::ptr::null_mut(); // it would lead past the slots
        ffi::PyType_Modified(class.as_type_ptr());
        Ok(CompiledNew { class: class.clone().unbind(), new })
    }
}

fn slot_of(class: &Bound<'_, PyType>, slot: c_int) -> *mut c_void {
    // SAFETY: a live type, and the GIL is held.
    unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) }
}

/// The place of a slot, if the slot's content is there.
///
/// # Safety
///
/// The place is inside a live type.
unsafe fn found(
    class: &Bound<'_, PyType>,
    place: *mut *mut c_void,
    content: *mut c_void,
) -> PyResult<*mut *mut c_void> {
    // SAFETY: guaranteed by the caller.
    if unsafe { *place } == content {
        return Ok(place);
    }
    Err(PyImportError::new_err(format!(
        "{} is not laid out as the types of Python 3.11 to 3.14 are, so its construction cannot be guarded: use one of \
         these versions, or set PYARROW_CUDA_HOOK=0 to leave pyarrow as it is",
        class.fully_qualified_name()?
    )))
}

/// The `__new__` that a class was compiled with.
#[pyclass(frozen, module = "pyarrow_cuda_compat._native", name = "_CompiledNew")]
pub(super) struct CompiledNew {
    class: Py<PyType>,
    new: New,
}

#[pymethods]
impl CompiledNew {
    #[pyo3(signature = (class, /, *arguments, **keywords))]
    fn __call__<'py>(
        &self,
        class: &Bound<'py, PyType>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        if !class.is_subclass(self.class.bind(py))? {
            let (name, other) = (self.class.bind(py).name()?, class.name()?);
            return Err(PyTypeError::new_err(format!(
                "{name}.__new__({other}): {other} is not a subtype of {name}"
            )));
        }
        let keywords = keywords.map_or(std::ptr::null_mut(), Bound::as_ptr);
        // SAFETY: the class's own function, with a class that extends it, a tuple, and a dict or null.
        unsafe {
            let new = || (self.new)(class.as_type_ptr(), arguments.as_ptr(), keywords);
            Bound::from_owned_ptr_or_err(py, hang_if_ended(new))
        }
    }
}

unsafe extern "C" {
    /// Part of the limited API since Python 3.12 only, but exported by 3.11 with this signature.
    fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}
