//! Columns for and of a library that works on the default stream, by the addresses of their memory.

use super::foreign_memory::view;
use crate::bounded_sequences::objects;
use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::pyarrow::from_pyarrow::{check_schema_argument, object_ref};
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::made;
use arrow_cuda_bridge::{Column, FlatArray};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Arrival, Context, Pending};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The first row, the nulls, and the address and size of each buffer of an array.
type Memory = (i64, i64, Vec<Option<(u64, i64)>>);

/// The memory of each array, or chunked array of one chunk, that has no parts and lies on a device.  The library may
/// read it from then on.  None for other arrays.
#[pyfunction(name = "_memory_of")]
pub(crate) fn memory_of(arrays: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Memory>>> {
    let py = arrays.py();
    let arrays = objects(arrays)?;
    let arrays: Vec<_> = arrays.iter().map(object_ref).collect();
    let found = pyarrow(py)?.bridge.memory_of(&arrays).or_raise(py)?;
    Ok(found.iter().map(of_flat).collect())
}

fn of_flat(array: &FlatArray) -> Option<Memory> {
    let buffers = array.addresses.into_iter().zip(array.sizes).take(array.count);
    let spans = buffers.map(|(address, size)| (size >= 0).then_some((address, size)));
    (array.count > 0).then(|| (array.offset, array.nulls, spans.collect()))
}

/// A table, or a record batch, of results of the library.  A column is an array or a chunked array, or a tuple with its
/// number of rows, that of its nulls, and what has each buffer's memory (None for no buffer): such objects have `ptr`
/// and `size`, and are kept.
#[pyfunction(name = "_table_over_memory")]
pub(crate) fn table_over_memory<'py>(
    context: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
    is_table: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    check_schema_argument(schema)?;
    let context = context_argument(context)?.context();
    let arrival = context.take_over(&Pending::DefaultStream).or_raise(py)?;
    let columns = objects(columns)?;
    let columns = columns.iter().map(|column| new_column(context, &arrival, column));
    let columns: Vec<_> = columns.collect::<PyResult<_>>()?;
    made(py, |bridge| bridge.new_table(object_ref(schema), columns, is_table))
}

fn new_column<'a>(
    context: &Context,
    arrival: &Arrival,
    column: &'a Bound<'_, PyAny>,
) -> PyResult<Column<'a>> {
    let Ok(facts) = column.cast::<PyTuple>() else { return Ok(Column::Ready(object_ref(column))) };
    let (rows, nulls, spans): (i64, i64, Bound<'_, PyTuple>) = facts.extract()?;
    let buffers = spans.iter().map(|span| match span.is_none() {
        true => Ok(None),
        false => buffer_over(context, arrival, span).map(Some),
    });
    Ok(Column::Over(rows, nulls, buffers.collect::<PyResult<_>>()?))
}

fn buffer_over(
    context: &Context,
    arrival: &Arrival,
    span: Bound<'_, PyAny>,
) -> PyResult<DeviceBuffer> {
    let py = span.py();
    let (address, size): (u64, usize) =
        (span.getattr("ptr")?.extract()?, span.getattr("size")?.extract()?);
    match size {
        0 => DeviceBuffer::allocate(context, 0).or_raise(py),
        _ => {
            let place = (address, size, false);
            view(py, context, place, arrival.clone(), Some(span.unbind()))
        }
    }
}
