//! The extension's part of the C Device interface.  The methods themselves are pyarrow's, wrapped
//! in Python: `pyarrow_cuda_compat/_device_arrays.py`.

use crate::errors::OrRaise;
use crate::pyarrow::pyarrow;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyFloat, PyInt, PyType};
use std::ffi::{CStr, c_void};
use std::ptr;

/// Names of capsules that hold a structure, and of those that pyarrow takes for plain pointers.
const ARRAY: &CStr = c"arrow_device_array";
const SCHEMA: &CStr = c"arrow_schema";
const FROM_R: &CStr = c"r_extptr";

/// An array, or a record batch if it `is_batch`, that pyarrow can export, or what is to be used
/// instead: its nulls are counted, and all of its memory is on one device.
#[pyfunction]
#[pyo3(name = "_prepare")]
pub(crate) fn prepare(object: Bound<'_, PyAny>, is_batch: bool) -> PyResult<Bound<'_, PyAny>> {
    let py = object.py();
    let pointer = object.as_ptr().cast();
    // SAFETY: a live object, and the GIL is held; the result is a new reference.
    unsafe {
        match pyarrow(py)?.bridge.prepare(pointer, is_batch).or_raise(py)? {
            Some(made) => Bound::from_owned_ptr_or_err(py, made.cast()),
            None => Ok(object),
        }
    }
}

/// Gives what pyarrow has just exported of an array or record batch an event, where work on it is
/// not done yet.  A failure releases both structures.
#[pyfunction]
#[pyo3(name = "_finish_export")]
pub(crate) fn finish_export(
    object: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    in_capsules: bool,
) -> PyResult<()> {
    let py = object.py();
    let Some((array, schema)) = structures(array, schema, in_capsules) else { return Ok(()) };
    // SAFETY: pyarrow has filled the structures at these places; the GIL is held.
    unsafe { pyarrow(py)?.bridge.finish_export(object.as_ptr().cast(), array, schema) }.or_raise(py)
}

/// Waits for an array's event where libarrow reads the data while it imports the array, and counts
/// the nulls of what is to be a record batch.  A failure releases both structures; `schema` may be
/// a type or schema of pyarrow's instead.
#[pyfunction]
#[pyo3(name = "_prepare_import")]
pub(crate) fn prepare_import(
    array: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    in_capsules: bool,
    is_batch: bool,
) -> PyResult<()> {
    let py = array.py();
    // pyarrow itself has the best error for an object without a structure.
    let Some((array, schema)) = structures(array, schema, in_capsules) else { return Ok(()) };
    // SAFETY: pyarrow reads the structures at these places next; the GIL is held.
    unsafe { pyarrow(py)?.bridge.prepare_import(array, schema, is_batch) }.or_raise(py)
}

/// An array or record batch that libarrow has imported, or what is to be used instead.
#[pyfunction]
#[pyo3(name = "_finish_import")]
pub(crate) fn finish_import<'py>(
    object: Bound<'py, PyAny>,
    array: &Bound<'py, PyAny>,
    in_capsules: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let place = if in_capsules { in_capsule(array, Some(ARRAY)) } else { at_address(array) };
    let Some(place) = place else { return Ok(object) };
    // SAFETY: pyarrow has imported the structure at this address, whose device field is still
    // valid; the GIL is held, and the result is a new reference.
    unsafe {
        let made = pyarrow(py)?.bridge.finish_import(object.as_ptr().cast(), place).or_raise(py)?;
        match made {
            Some(made) => Bound::from_owned_ptr_or_err(py, made.cast()),
            None => Ok(object),
        }
    }
}

/// Has Python forget what it remembers of a class whose namespace was changed.
#[pyfunction]
#[pyo3(name = "_class_changed")]
pub(crate) fn class_changed(class: &Bound<'_, PyType>) {
    // SAFETY: a live type, and the GIL is held.
    unsafe { ffi::PyType_Modified(class.as_type_ptr()) };
}

/// The array, if there is one, and the schema, null if there is none.
fn structures(
    array: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    in_capsules: bool,
) -> Option<(*mut c_void, *mut c_void)> {
    if in_capsules {
        return Some((in_capsule(array, Some(ARRAY))?, in_capsule(schema, Some(SCHEMA))?));
    }
    Some((at_address(array)?, at_address(schema).unwrap_or(ptr::null_mut())))
}

fn in_capsule(object: &Bound<'_, PyAny>, name: Option<&CStr>) -> Option<*mut c_void> {
    let capsule = object.cast_exact::<PyCapsule>().ok()?;
    capsule.pointer_checked(name).ok().map(ptr::NonNull::as_ptr)
}

/// What pyarrow takes for a pointer: a number, or a capsule from R.
fn at_address(object: &Bound<'_, PyAny>) -> Option<*mut c_void> {
    if object.is_exact_instance_of::<PyCapsule>() {
        return in_capsule(object, None).or_else(|| in_capsule(object, Some(FROM_R)));
    }
    let address = if let Ok(number) = object.cast::<PyFloat>() {
        number.value() as usize
    } else if object.is_instance_of::<PyInt>() {
        object.extract::<usize>().ok()?
    } else {
        return None;
    };
    (address != 0).then_some(address as *mut c_void)
}
