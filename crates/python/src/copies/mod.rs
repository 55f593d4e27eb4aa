//! The copies of a `CudaBuffer`, which check their arguments in upstream's order.
//!
//! All Python code runs before the checks, because it may change the size of a host buffer: the stream's
//! `__cuda_stream__`, and the buffer protocol of the data.

pub(crate) mod batch;
mod bounds;
mod limits;
pub(crate) mod source;

use crate::errors::{OrRaise, incorrect_type, out_of_range};
use crate::pyarrow::from_pyarrow::{
    check_pool, cuda_buffer_argument, device_buffer, host_bytes_mut, span,
};
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::allocate_host;
use crate::registration::{PACKAGE, Registration, functions};
use crate::streams::argument::{ChosenOrder, Named, ask, owner_for};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Retained;
use bounds::{after, more_than_available, to_copy};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use source::{Data, HostData};

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    let limits = functions!(registration, limits::set_transfer_limits, limits::transfer_limits);
    registration.public(PACKAGE, limits)
}

/// Where the bytes go that are copied to the host.
pub(crate) struct Target<'py> {
    /// A host buffer; a new one is allocated otherwise.
    pub(crate) buf: Option<Bound<'py, PyAny>>,
    pub(crate) memory_pool: Option<Bound<'py, PyAny>>,
    pub(crate) resizable: Option<Bound<'py, PyAny>>,
}

/// `CudaBuffer.copy_to_host`.  Returns the host buffer, and how many bytes were copied.
pub(crate) fn to_host<'py>(
    py: Python<'py>,
    buffer: &DeviceBuffer,
    position: i64,
    nbytes: i64,
    target: Target<'py>,
    stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, u64)> {
    let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
    let available = after(position, buffer.size())?;
    check_pool("memory_pool", target.memory_pool.as_ref())?;
    let (out, size) = match target.buf {
        None => {
            let size = if nbytes < 0 { available } else { nbytes.cast_unsigned() };
            if size > available {
                return Err(more_than_available("from device buffer"));
            }
            (allocate(py, size, target.memory_pool, target.resizable)?, size)
        }
        Some(out) => {
            let room = span(&out)
                .ok_or_else(|| incorrect_type("buf", "pyarrow.lib.Buffer", &out))?
                .size
                .cast_unsigned();
            let size = if nbytes < 0 { available.min(room) } else { nbytes.cast_unsigned() };
            if size > room {
                return Err(PyValueError::new_err("requested copy does not fit into host buffer"));
            }
            if size > available {
                return Err(more_than_available("from device buffer"));
            }
            (out, size)
        }
    };
    let position = position.cast_unsigned();
    ChosenOrder::of(py, stream, &[buffer.context()])?.copy(py, buffer.context(), |order| {
        let (bytes, mut owner) = (host_bytes_mut(&out, size)?, owner_for(order, &out));
        let copied = py.detach(|| {
            let (address, size) = (bytes.as_mut_ptr().cast(), bytes.len());
            let owner = || -> Retained { Box::new(owner.take()) };
            // SAFETY: the owner keeps the memory valid; other threads may read it meanwhile, as
            // everywhere in Python.
            unsafe { buffer.copy_to_host_in(order, position, address, size, owner) }
        });
        copied.or_raise(py).map(drop)
    })?;
    Ok((out, size))
}

/// A new host buffer, which pyarrow allocates if the caller names a pool or wants to resize it.
fn allocate<'py>(
    py: Python<'py>,
    size: u64,
    memory_pool: Option<Bound<'py, PyAny>>,
    resizable: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let resizable = resizable.map_or(Ok(false), |resizable| resizable.is_truthy())?;
    if memory_pool.is_none() && !resizable {
        return allocate_host(py, size);
    }
    let options = PyDict::new(py);
    options.set_item("memory_pool", memory_pool)?;
    options.set_item("resizable", resizable)?;
    pyarrow(py)?.allocate_buffer.bind(py).call((size,), Some(&options))
}

/// `CudaBuffer.copy_from_host`.
pub(crate) fn from_host(
    buffer: &DeviceBuffer,
    data: &Bound<'_, PyAny>,
    position: i64,
    nbytes: i64,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let py = data.py();
    let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
    let room = after(position, buffer.size())?;
    let position = position.cast_unsigned();
    let data = match Data::of(data)? {
        Data::Host(data) => data,
        Data::Device(data) => {
            let data = device_buffer(&data)?;
            let size = to_copy(nbytes, data.size(), room, "from host buffer")?;
            copy_device(py, buffer, position, &data.slice(0, size).or_raise(py)?, stream)?;
            return Ok(size);
        }
    };
    let chosen = ChosenOrder::of(py, stream, &[buffer.context()])?;
    let data = match chosen.stream() {
        None => data,
        // The object is asked again for what is to outlive this call, and may give something else.
        Some(_) => HostData::Buffer(data.buffer()?),
    };
    let size = to_copy(nbytes, data.bytes()?.len() as u64, room, "from host buffer")?;
    chosen.copy(py, buffer.context(), |order| {
        let bytes = data.bytes()?.get(..size as usize).ok_or_else(|| out_of_range("nbytes"))?;
        let mut owner = owner_for(order, data.object());
        let copied = py.detach(|| {
            let owner = || -> Retained { Box::new(owner.take()) };
            // SAFETY: the owner keeps the memory valid; other threads may write to it meanwhile, as
            // everywhere in Python.
            unsafe { buffer.copy_from_host_in(order, position, bytes.as_ptr(), bytes.len(), owner) }
        });
        copied.or_raise(py).map(drop)
    })?;
    Ok(size)
}

/// `CudaBuffer.copy_from_device`.
pub(crate) fn from_device(
    buffer: &DeviceBuffer,
    buf: &Bound<'_, PyAny>,
    position: i64,
    nbytes: i64,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let py = buf.py();
    let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
    let room = after(position, buffer.size())?;
    let data = cuda_buffer_argument(buf)?;
    let size = to_copy(nbytes, data.size(), room, "from device buffer")?;
    let data = data.slice(0, size).or_raise(py)?;
    copy_device(py, buffer, position.cast_unsigned(), &data, stream)?;
    Ok(size)
}

fn copy_device(
    py: Python<'_>,
    buffer: &DeviceBuffer,
    position: u64,
    data: &DeviceBuffer,
    stream: Option<Named>,
) -> PyResult<()> {
    let chosen = ChosenOrder::of(py, stream, &[buffer.context(), data.context()])?;
    chosen.copy(py, data.context(), |order| {
        let copied = py.detach(|| buffer.copy_from_device_in(order, position, data));
        copied.or_raise(py).map(drop)
    })
}

/// The part of a buffer that `position` and `nbytes` name.
pub(crate) fn part(
    py: Python<'_>,
    buffer: &DeviceBuffer,
    position: i64,
    nbytes: i64,
) -> PyResult<DeviceBuffer> {
    let room = after(position, buffer.size())?;
    let size = to_copy(nbytes, room, room, "in device buffer")?;
    buffer.slice(position.cast_unsigned(), size).or_raise(py)
}

/// `CudaBuffer.fill`.  Returns how many bytes were set.
pub(crate) fn fill(
    py: Python<'_>,
    buffer: &DeviceBuffer,
    value: i64,
    position: i64,
    nbytes: i64,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
    after(position, buffer.size())?;
    let value = u8::try_from(value).map_err(|_| {
        PyValueError::new_err(format!("value argument must be from 0 to 255, not {value}"))
    })?;
    let part = part(py, buffer, position, nbytes)?;
    ChosenOrder::of(py, stream, &[buffer.context()])?.copy(py, buffer.context(), |order| {
        py.detach(|| part.fill_in(order, value)).or_raise(py).map(drop)
    })?;
    Ok(part.size())
}
