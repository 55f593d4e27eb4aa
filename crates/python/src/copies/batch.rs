//! Device buffers with the data of many objects, in one allocation and one copy.

use super::source::Data;
use crate::bounded_sequences::objects;
use crate::errors::allocating;
use crate::pyarrow::from_pyarrow::device_buffer;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Context;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A list with a `CudaBuffer` for each object.
pub(crate) fn copies_of<'py>(
    context: &Context,
    iterable: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let py = iterable.py();
    let objects = objects(iterable)?;
    let data = objects.iter().map(Data::of).collect::<PyResult<Vec<_>>>()?;
    let (mut host, mut device) = (Vec::new(), Vec::new());
    for data in &data {
        match data {
            Data::Host(data) => host.push(data.bytes()?),
            Data::Device(data) => device.push(device_buffer(data)?),
        }
    }
    let (host, device) = allocating(py, context, || {
        let host = DeviceBuffer::adjacent_from_host(context, &host)?;
        Ok::<_, BufferError>((host, DeviceBuffer::adjacent_copies(context, &device)?))
    })?;
    let (mut host, mut device) = (host.into_iter(), device.into_iter());
    let buffers = data.iter().map(|data| match data {
        Data::Host(_) => host.next(),
        Data::Device(_) => device.next(),
    });
    let wrapped = buffers.flatten().map(|buffer| wrap_buffer(py, buffer));
    PyList::new(py, wrapped.collect::<PyResult<Vec<_>>>()?)
}
