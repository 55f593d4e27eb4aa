//! Checks of a copy's size, with the messages of pyarrow's checks.

use crate::errors::out_of_range;
use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

/// How many bytes there are from a position on.
pub(crate) fn after(position: i64, size: u64) -> PyResult<u64> {
    let position = u64::try_from(position).ok().filter(|position| *position <= size);
    position.map(|position| size - position).ok_or_else(|| out_of_range("position"))
}

/// How many bytes to copy of `available` ones into `room`.
pub(crate) fn to_copy(nbytes: i64, available: u64, room: u64, whence: &str) -> PyResult<u64> {
    let Ok(size) = u64::try_from(nbytes) else { return Ok(available.min(room)) };
    if size > available {
        return Err(more_than_available(whence));
    }
    if size > room {
        return Err(more_than_available("in device buffer"));
    }
    Ok(size)
}

/// The exception for a copy that is larger than its source.
pub(crate) fn more_than_available(whence: &str) -> PyErr {
    PyValueError::new_err(format!("requested more to copy than available {whence}"))
}
