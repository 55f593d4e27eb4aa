//! Sequences that callers pass, of limited length.
//!
//! An object may claim any `len()`, and iterating it may never end.  PyO3's `Vec<T>` would reserve that much
//! memory and abort the process, so no function of the extension takes one.

use arrow_cuda_numba_bridge::MAX_DIMENSIONS;
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

/// The most objects that a call takes in one list.
const MAX_OBJECTS: usize = 1 << 24;

/// A shape: a length, or a sequence of them.
pub(crate) fn lengths(shape: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match integer(shape) {
        Err(error) if error.is_instance_of::<PyTypeError>(shape.py()) => integers(shape),
        length => Ok(vec![length?]),
    }
}

/// A sequence of integers, of no more dimensions than NumPy's arrays have.
pub(crate) fn integers(sequence: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    of_dimensions(sequence, |each| integer(&each))
}

/// The entries of a shape or of strides, of any class: at most as many as an array can have dimensions.
#[pyfunction(name = "_dimensions")]
pub(crate) fn dimensions<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(sequence.py(), of_dimensions(sequence, Ok)?)
}

/// The objects of an iterable.
pub(crate) fn objects<'py>(iterable: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let too_many = || format!("more than {MAX_OBJECTS} objects in one call");
    at_most(MAX_OBJECTS, iterable.try_iter()?, too_many, Ok)
}

fn of_dimensions<'py, T>(
    sequence: &Bound<'py, PyAny>,
    read: impl Fn(Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let entries = sequence.try_iter().map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(sequence.py()) {
            return error;
        }
        let found = sequence.get_type();
        PyTypeError::new_err(format!("expected integers, got an object of {found}"))
    })?;
    let too_many = || format!("maximum supported dimension for a device array is {MAX_DIMENSIONS}");
    at_most(MAX_DIMENSIONS, entries, too_many, read)
}

fn at_most<'py, T>(
    limit: usize,
    entries: Bound<'py, PyIterator>,
    too_many: impl FnOnce() -> String,
    read: impl Fn(Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let mut found = Vec::new();
    for entry in entries {
        if found.len() == limit {
            return Err(PyValueError::new_err(too_many()));
        }
        let entry = read(entry?)?;
        found.try_reserve(1).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        found.push(entry);
    }
    Ok(found)
}

fn integer(number: &Bound<'_, PyAny>) -> PyResult<i64> {
    number.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(number.py()) {
            true => PyValueError::new_err(format!("{number} does not fit into 64 bits")),
            false => error,
        }
    })
}
