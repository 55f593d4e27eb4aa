//! Readers of copies of record batches, which read ahead: `pyarrow_cuda_compat/_patches/read_ahead.py`.

use super::copy_to::{destination_object, in_contexts, require_destination};
use crate::errors::{OrRaise, expected};
use crate::pyarrow::from_pyarrow::{is_of, object_ref};
use crate::pyarrow::to_pyarrow::made;
use crate::pyarrow::{cython_subclass, pyarrow};
use crate::streams::argument::ask;
use crate::tracing::{Area, Facts, traced};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A reader that takes the batches of another one over, to copy them to a destination.  The thread that reads waits
/// while it has read `nbytes` that nobody has asked for.
#[pyfunction(name = "_read_ahead")]
pub(crate) fn read_ahead<'py>(
    reader: &Bound<'py, PyAny>,
    nbytes: i64,
    destination: &Bound<'py, PyAny>,
    has_stream: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = reader.py();
    let pyarrow = pyarrow(py)?;
    let reader = checked(reader)?;
    let class = pyarrow.lib.record_batch_reader.bind(py);
    let ahead = cython_subclass::new_instance(class, class)?;
    let destination = &destination_object(pyarrow, destination)?;
    let place = require_destination(pyarrow, destination)?;
    let (reader, fresh) = (object_ref(reader), object_ref(&ahead));
    // SAFETY: two objects of the class, the second one new.
    unsafe { pyarrow.bridge.read_ahead(reader, nbytes, &place, has_stream, fresh) }.or_raise(py)?;
    Ok(ahead)
}

/// Reads ahead until the source ends, or the reader is closed.
#[pyfunction(name = "_run_ahead")]
pub(crate) fn run_ahead(ahead: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = ahead.py();
    // SAFETY: an object of the class.
    unsafe { pyarrow(py)?.bridge.run_ahead(object_ref(checked(ahead)?)) }.or_raise(py)
}

/// Copies of the next batches, or of the last ones again unless these `were_copied`; their rows and bytes, and whether
/// no others follow.  No copies if no batch was read for some milliseconds.
#[pyfunction(name = "_copy_ahead")]
pub(crate) fn copy_ahead<'py>(
    ahead: &Bound<'py, PyAny>,
    destination: &Bound<'py, PyAny>,
    stream: Option<&Bound<'py, PyAny>>,
    were_copied: bool,
) -> PyResult<(Bound<'py, PyList>, i64, i64, bool)> {
    let py = ahead.py();
    let pyarrow = pyarrow(py)?;
    let ahead = object_ref(checked(ahead)?);
    // SAFETY: an object of the class, which Python uses by one thread at a time.
    let taken = unsafe { pyarrow.bridge.take_batches(ahead, were_copied) }.or_raise(py)?;
    if taken.count == 0 {
        return Ok((PyList::empty(py), 0, 0, taken.are_last));
    }
    let copy = || {
        let named = stream.map(|stream| ask("stream", stream)).transpose()?;
        let destination = &destination_object(pyarrow, destination)?;
        let place = require_destination(pyarrow, destination)?;
        let order = in_contexts(py, named, &place, || taken.contexts)?;
        // SAFETY: as above.
        let copied = unsafe { pyarrow.bridge.copy_taken(ahead, &taken, order.stream()) };
        let (copies, nbytes) = copied.or_raise(py)?;
        let copies = copies.into_iter().map(|copy| made(py, |_| Ok(copy)));
        let copies = PyList::new(py, copies.collect::<PyResult<Vec<_>>>()?)?;
        order.finish(py)?;
        let device = pyarrow.bridge.destination_device(&place).or(taken.contexts.device());
        Ok((copies, nbytes, device))
    };
    let facts = |(_, nbytes, device): &(_, i64, _)| Facts {
        nbytes: usize::try_from(*nbytes).ok(),
        device: *device,
    };
    let (copies, nbytes, _) = traced(py, Area::Transfer, "copy_to", copy, facts)?;
    Ok((copies, taken.rows, nbytes, taken.are_last))
}

fn checked<'a, 'py>(reader: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyAny>> {
    let is_reader = is_of(reader, &pyarrow(reader.py())?.lib.record_batch_reader);
    if is_reader { Ok(reader) } else { Err(expected("RecordBatchReader", reader)) }
}
