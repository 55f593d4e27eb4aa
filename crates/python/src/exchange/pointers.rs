//! Addresses that callers pass as numbers.
//!
//! Whether an address holds the right structure cannot be checked.  This module refuses other objects, and
//! addresses of unreadable memory, which would crash the process.

use arrow_cuda_context::is_readable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt};
use std::ffi::{CStr, c_void};
use std::ptr;

/// Capsules from R, which pyarrow takes for plain pointers; older ones have no name.
const FROM_R: &CStr = c"r_extptr";

/// The address of a structure, and the object that passes it to pyarrow.
pub(crate) struct Pointer<'py> {
    pub(crate) place: *mut c_void,
    pub(crate) object: Bound<'py, PyAny>,
}

impl<'py> Pointer<'py> {
    /// The pointer to a structure of `size` bytes that an object is to pyarrow: an integer, a number
    /// with a fraction, or a capsule from R.  `None` for all other objects, which pyarrow refuses.
    ///
    /// Raises what pyarrow raises, and a ValueError where memory cannot be read.
    pub(crate) fn of(object: &Bound<'py, PyAny>, size: usize) -> PyResult<Option<Self>> {
        let py = object.py();
        let (address, object) = if object.is_instance_of::<PyBool>() {
            let text = format!("Expected a pointer value, got {}", object.get_type().repr()?);
            return Err(PyTypeError::new_err(text));
        } else if object.is_instance_of::<PyInt>() {
            // The number itself: a subclass could give another one to whoever asks next.
            let address: usize = object.extract()?;
            (address, address.into_pyobject(py)?.into_any())
        } else if let Ok(number) = object.cast::<PyFloat>() {
            let number = PyFloat::new(py, number.value());
            (number.call_method0("__int__")?.extract()?, number.into_any())
        } else if let Some(place) =
            in_capsule(object, None).or_else(|| in_capsule(object, Some(FROM_R)))
        {
            (place as usize, object.clone())
        } else {
            return Ok(None);
        };
        if address == 0 {
            let text = format!("Null pointer (value before cast = {})", object.repr()?);
            return Err(PyValueError::new_err(text));
        }
        let last = address.saturating_add(size.saturating_sub(size_of::<usize>()));
        if !is_readable(address) || !is_readable(last) {
            return Err(PyValueError::new_err(format!(
                "no structure of {size} bytes lies at {address:#x}: the address is misaligned, or \
                 the memory cannot be read"
            )));
        }
        Ok(Some(Self { place: address as *mut c_void, object }))
    }

    /// As [`of`](Self::of), for a pointer that may be null.
    pub(crate) fn or_null(object: &Bound<'py, PyAny>, size: usize) -> PyResult<Option<Self>> {
        if object.is_exact_instance_of::<PyInt>() && !object.is_truthy()? {
            return Ok(Some(Self { place: ptr::null_mut(), object: object.clone() }));
        }
        Self::of(object, size)
    }
}

pub(crate) fn in_capsule(object: &Bound<'_, PyAny>, name: Option<&CStr>) -> Option<*mut c_void> {
    let capsule = object.cast_exact::<PyCapsule>().ok()?;
    capsule.pointer_checked(name).ok().map(ptr::NonNull::as_ptr)
}

/// The address of `size` bytes of the host, of which the first and the last can be read.
#[pyfunction(name = "_host_address")]
pub(crate) fn host_address(address: &Bound<'_, PyAny>, size: usize) -> PyResult<usize> {
    if address.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("expected an address, got a bool"));
    }
    let first: usize = address.extract()?;
    if size == 0 {
        return Ok(first);
    }
    if first == 0 {
        return Err(PyValueError::new_err("the address of the memory on the host is 0"));
    }
    let word = |byte: usize| byte - byte % size_of::<usize>();
    match first.checked_add(size - 1) {
        Some(last) if is_readable(word(first)) && is_readable(word(last)) => Ok(first),
        _ => Err(PyValueError::new_err(format!(
            "the {size} bytes of the host at {first:#x} cannot be read"
        ))),
    }
}
