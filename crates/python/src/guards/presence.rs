//! Whether data that a function is given may lie on a device.

use super::holders::may_hold;
use crate::pyarrow::from_pyarrow::{is_of, is_on_device};
use crate::pyarrow::{Pyarrow, pyarrow};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// How deep lists and dicts are looked into: `pa.concat_arrays([array])`,
/// `pa.table({"column": [array]})`.
const DEPTH: usize = 3;

/// Whether data of an object, or of one in a list, tuple or dict, lies on a device.  What only
/// Python can look into counts as if it did: messages, readers of record batches and other
/// iterators that are no files, other containers, and what makes arrays when it is asked to.
#[pyfunction]
#[pyo3(name = "_may_be_on_device")]
pub(crate) fn may_be_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let pyarrow = pyarrow(object.py())?;
    Ok(pyarrow.bridge.has_devices() && is_there(pyarrow, object, DEPTH)?)
}

/// The same for the arguments of a call.
pub(super) fn any_may_be_on_device<'py>(
    py: Python<'py>,
    arguments: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<bool> {
    let pyarrow = pyarrow(py)?;
    if !pyarrow.bridge.has_devices() {
        return Ok(false);
    }
    let mut arguments = arguments.map(|each| is_there(pyarrow, &each, DEPTH));
    arguments.find(|found| !matches!(found, Ok(false))).unwrap_or(Ok(false))
}

fn is_there(pyarrow: &Pyarrow, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if has_data(pyarrow, object) {
        return is_on_device(object);
    }
    if depth == 0 {
        return Ok(false);
    }
    if let Ok(list) = object.cast_exact::<PyList>() {
        for each in list {
            if is_there(pyarrow, &each, depth - 1)? {
                return Ok(true);
            }
        }
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        for each in tuple.iter_borrowed() {
            if is_there(pyarrow, &each, depth - 1)? {
                return Ok(true);
            }
        }
    } else if let Ok(dict) = object.cast_exact::<PyDict>() {
        return is_any_there(pyarrow, dict, depth - 1);
    } else {
        return Ok(is_of(object, &pyarrow.message) || may_hold(object)?);
    }
    Ok(false)
}

fn is_any_there(pyarrow: &Pyarrow, dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<bool> {
    // A list of them: a question to a value may change the dict.
    for value in dict.values() {
        if is_there(pyarrow, &value, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_data(pyarrow: &Pyarrow, object: &Bound<'_, PyAny>) -> bool {
    [&pyarrow.array, &pyarrow.chunked_array, &pyarrow.table, &pyarrow.record_batch, &pyarrow.buffer]
        .into_iter()
        .any(|class| is_of(object, class))
}
