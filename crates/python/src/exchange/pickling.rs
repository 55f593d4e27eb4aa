//! The extension's part of pickling and Dask support.  The rest is in Python, as they are:
//! `pyarrow_cuda_compat/_methods/pickling.py` and `dask/`.

use crate::bounded_sequences::objects;
use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::ipc::handle::PyIpcMemHandle;
use crate::pyarrow::from_pyarrow::{
    check_has_arrays, check_schema_argument, cuda_buffer_argument, is_on_device, object_ref,
};
use crate::pyarrow::to_pyarrow::{made, wrap_buffer, wrap_slice};
use crate::signals::wait_for_signals;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Device;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Whether any data of an array, chunked array, record batch or table lies in device memory,
/// whatever the object says of itself.
#[pyfunction(name = "_is_on_device")]
pub(crate) fn any_is_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    check_has_arrays(object)?;
    is_on_device(object)
}

/// An array without its data: an empty host buffer in place of each buffer that is not plain host
/// memory, which is the empty one's parent.
#[pyfunction(name = "_skeleton")]
pub(crate) fn skeleton<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    made(array.py(), |bridge| bridge.skeleton_of(object_ref(array)))
}

/// A record batch of arrays, or a table of chunked arrays, which libarrow does not validate: it
/// refuses empty memory of a device.
#[pyfunction(name = "_assemble")]
pub(crate) fn assemble<'py>(
    schema: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    check_schema_argument(schema)?;
    let columns = objects(columns)?;
    let columns: Vec<_> = columns.iter().map(object_ref).collect();
    made(schema.py(), |bridge| bridge.assemble(object_ref(schema), &columns))
}

/// New memory for a buffer of an array: packed, as Arrow's own allocations are.
#[pyfunction(name = "_new_packed_buffer")]
pub(crate) fn new_packed_buffer<'py>(
    context: &Bound<'py, PyAny>,
    nbytes: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    let context = context_argument(context)?.context();
    let made = py.detach(|| DeviceBuffer::allocate_packed(context, nbytes));
    wrap_buffer(py, made.or_raise(py)?)
}

/// The same memory, which may not be written to through the result.
#[pyfunction(name = "_read_only")]
pub(crate) fn read_only<'py>(buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    wrap_slice(buffer, cuda_buffer_argument(buffer)?.read_only())
}

/// A handle of a buffer's memory for another process, valid as long as the buffer lives.
#[pyfunction(name = "_lend")]
pub(crate) fn lend(buffer: &Bound<'_, PyAny>) -> PyResult<PyIpcMemHandle> {
    let py = buffer.py();
    let buffer = cuda_buffer_argument(buffer)?;
    let handle = wait_for_signals(py, || arrow_cuda_ipc::lend(buffer))?.or_raise(py)?;
    Ok(PyIpcMemHandle { handle })
}

/// The UUID of a device, which is the same in every process.
#[pyfunction(name = "_uuid")]
pub(crate) fn uuid(py: Python<'_>, device_number: u32) -> PyResult<Bound<'_, PyBytes>> {
    let uuid = py.detach(|| Device::get(device_number)?.uuid()).or_raise(py)?;
    Ok(PyBytes::new(py, &uuid))
}
