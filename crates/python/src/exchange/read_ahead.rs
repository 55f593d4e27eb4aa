//! Readers of record batches that are read ahead: `pyarrow_cuda_compat/_pyarrow/read_ahead.py`.

use crate::errors::{OrRaise, expected};
use crate::pyarrow::from_pyarrow::{is_of, live};
use crate::pyarrow::to_pyarrow::made;
use crate::pyarrow::{cython_subclass, pyarrow};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A reader that takes the batches of another one over.  It waits while it has read `nbytes` that nobody has taken.
#[pyfunction]
#[pyo3(name = "_read_ahead")]
pub(crate) fn read_ahead<'py>(
    reader: &Bound<'py, PyAny>,
    nbytes: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = reader.py();
    let ahead = new_reader(reader)?;
    // SAFETY: two objects of the class, the second one new.
    unsafe { pyarrow(py)?.bridge.read_ahead(live(reader), nbytes, live(&ahead)) }.or_raise(py)?;
    Ok(ahead)
}

/// Reads ahead until the source ends, or the reader is closed.
#[pyfunction]
#[pyo3(name = "_run_ahead")]
pub(crate) fn run_ahead(ahead: &Bound<'_, PyAny>) -> PyResult<()> {
    checked(ahead)?;
    let py = ahead.py();
    // SAFETY: an object of the class.
    unsafe { pyarrow(py)?.bridge.run_ahead(live(ahead)) }.or_raise(py)
}

/// The batches that were read, up to `nbytes` or one of them, and the bytes that copies of them take; after the last
/// ones also a reader that ends, or fails, as the source has done.  No batches if there are none for some
/// milliseconds.
#[pyfunction]
#[pyo3(name = "_take_batches")]
pub(crate) fn take_batches<'py>(
    ahead: &Bound<'py, PyAny>,
    nbytes: i64,
) -> PyResult<(Bound<'py, PyList>, i64, Option<Bound<'py, PyAny>>)> {
    let py = ahead.py();
    let rest = new_reader(ahead)?;
    // SAFETY: two objects of the class, the second one new.
    let taken = unsafe { pyarrow(py)?.bridge.take_batches(live(ahead), nbytes, live(&rest)) };
    let taken = taken.or_raise(py)?;
    let batches = taken.objects.into_iter().map(|batch| made(py, |_| Ok(batch)));
    let batches = batches.collect::<PyResult<Vec<_>>>()?;
    Ok((PyList::new(py, batches)?, taken.nbytes, taken.are_last.then_some(rest)))
}

/// A new object of the class that a reader has to be of.
fn new_reader<'py>(reader: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    checked(reader)?;
    let class = pyarrow(reader.py())?.batch_reader.bind(reader.py());
    cython_subclass::new_instance(class, class)
}

fn checked(reader: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_reader = is_of(reader, &pyarrow(reader.py())?.batch_reader);
    if is_reader { Ok(()) } else { Err(expected("RecordBatchReader", reader)) }
}
