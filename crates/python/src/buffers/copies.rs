//! The copies of a `CudaBuffer`.  They check their arguments in upstream's order, and raise pyarrow's messages.
//!
//! The stream's `__cuda_stream__` and the data's buffer protocol run first, because Python code may change the size
//! of a host buffer.  The checks follow.

use super::cuda_buffer::{Methods, facts_of};
use crate::copies::source::{Data, HostData};
use crate::errors::{OrRaise, incorrect_type, non_negative, out_of_range};
use crate::pyarrow::from_pyarrow::{
    check_pool, cuda_buffer_argument, device_buffer, host_bytes_mut, span,
};
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::{allocate_host, wrap_slice};
use crate::streams::argument::{ChosenOrder, Named, ask, owner_for};
use crate::tracing::{Area, traced};
use arrow_cuda_buffer::DeviceBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pymethods]
impl Methods {
    /// Copy data from the device to the host.
    ///
    /// Waits for work on the default stream, but not for work on other streams:
    /// use ``buf.context.synchronize()`` for that.
    ///
    /// Parameters
    /// ----------
    /// position : int, default 0
    ///     Where in the device buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for all from `position` on, or as many
    ///     as fit into `buf`.
    /// buf : Buffer, optional
    ///     A mutable host buffer to copy into, starting at its first byte.
    /// memory_pool : MemoryPool, optional
    ///     Where to allocate the result, when `buf` is not given.
    /// resizable : bool, default False
    ///     Whether the allocated result is resizable.
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     Runs the copy on that stream.  If `buf` is pinned (a `HostBuffer`, or
    ///     memory that another library has pinned), the call returns at once, and
    ///     the copy is complete when the stream is synchronized.  Otherwise the call
    ///     waits for the stream and the default stream, and the copy is complete on
    ///     return.
    ///
    /// Returns
    /// -------
    /// buf : Buffer
    ///     The host buffer.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the range is outside the buffer or larger than `buf`, or if `buf` is
    ///     not mutable or not on the host; if the stream belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"0123456789")
    /// >>> buf.copy_to_host(position=2, nbytes=3).to_pybytes()
    /// b'234'
    /// >>> pinned = cuda.new_host_buffer(4)
    /// >>> buf.copy_to_host(position=6, buf=pinned).to_pybytes()
    /// b'6789'
    #[pyo3(
        signature = (position=0, nbytes=-1, buf=None, memory_pool=None, resizable=None, *, stream=None),
        text_signature = "($self, position=0, nbytes=-1, buf=None, memory_pool=None, resizable=False, *, stream=None)"
    )]
    pub(super) fn copy_to_host<'py>(
        slf: &Bound<'py, Self>,
        position: i64,
        nbytes: i64,
        buf: Option<Bound<'py, PyAny>>,
        memory_pool: Option<Bound<'py, PyAny>>,
        resizable: Option<Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let copy = || {
            let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
            let available = after(position, buffer.len())?;
            check_pool("memory_pool", memory_pool.as_ref())?;
            let room = match &buf {
                None => usize::MAX,
                Some(out) => {
                    let span = span(out);
                    span.ok_or_else(|| incorrect_type("buf", "pyarrow.lib.Buffer", out))?.size
                        as usize
                }
            };
            let size = if nbytes < 0 { available.min(room) } else { nbytes as usize };
            if size > room {
                return Err(PyValueError::new_err("requested copy does not fit into host buffer"));
            }
            if size > available {
                return Err(more_than_available("from device buffer"));
            }
            let out = match buf {
                None => allocate(py, size, memory_pool, resizable)?,
                Some(out) => out,
            };
            let position = position as usize;
            let chosen = ChosenOrder::of(py, stream, &[buffer.context()])?;
            chosen.copy(py, &[buffer.context()], |order| {
                let (bytes, mut owner) = (host_bytes_mut(&out, size)?, owner_for(order, &out));
                let copied = py.detach(|| {
                    let (address, size) = (bytes.as_mut_ptr().cast(), bytes.len());
                    // SAFETY: the owner keeps the memory valid; other threads may read it meanwhile, as
                    // everywhere in Python.
                    unsafe { buffer.copy_to_host_in(order, position, address, size, &mut owner) }
                });
                copied.or_raise(py).map(drop)
            })?;
            Ok((out, size))
        };
        let facts = |(_, size): &(_, usize)| facts_of(buffer, *size);
        let copied = traced(py, Area::Transfer, "CudaBuffer.copy_to_host", copy, facts);
        copied.map(|(out, _)| out)
    }

    /// Copy data from the host into the buffer.
    ///
    /// Parameters
    /// ----------
    /// data : Buffer or array-like
    ///     The data: anything that `pyarrow.py_buffer` accepts.
    /// position : int, default 0
    ///     Where in the device buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for as many as `data` has and fit.
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     Runs the copy on that stream.  If the data is pinned (a `HostBuffer`, or
    ///     memory that another library has pinned), the call returns at once, and
    ///     the data must not change until the copy is complete.  Otherwise the call
    ///     waits for the stream and the default stream, and the data may change as
    ///     soon as it returns.
    ///
    /// Returns
    /// -------
    /// nbytes : int
    ///     The number of bytes copied.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `data` has fewer bytes, if they do not fit, or if this buffer is not
    ///     mutable; if the stream belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"----------")
    /// >>> buf.copy_from_host(b"abcdef", position=2, nbytes=3)
    /// 3
    /// >>> buf.to_pybytes()
    /// b'--abc-----'
    #[pyo3(
        signature = (data, position=0, nbytes=-1, *, stream=None),
        text_signature = "($self, data, position=0, nbytes=-1, *, stream=None)"
    )]
    fn copy_from_host(
        slf: &Bound<'_, Self>,
        data: &Bound<'_, PyAny>,
        position: i64,
        nbytes: i64,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let copy = || {
            let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
            let room = after(position, buffer.len())?;
            let position = position as usize;
            let data = match Data::of(data)? {
                Data::Host(data) => data,
                Data::Device(data) => {
                    let data = device_buffer(&data)?;
                    let size = to_copy(nbytes, data.len(), room, "from host buffer")?;
                    return copy_device(py, buffer, position, data, size, stream);
                }
            };
            let chosen = ChosenOrder::of(py, stream, &[buffer.context()])?;
            let data = match chosen.stream() {
                None => data,
                // The object is asked again for what is to outlive this call, and may give something else.
                Some(_) => HostData::Buffer(data.buffer()?),
            };
            let size = to_copy(nbytes, data.bytes()?.len(), room, "from host buffer")?;
            chosen.copy(py, &[buffer.context()], |order| {
                let bytes = data.bytes()?.get(..size);
                let bytes = bytes.ok_or_else(|| out_of_range("nbytes"))?;
                let mut owner = owner_for(order, data.object());
                let copied = py.detach(|| {
                    let (address, size) = (bytes.as_ptr(), bytes.len());
                    // SAFETY: the owner keeps the memory valid; other threads may write to it meanwhile,
                    // as everywhere in Python.
                    unsafe { buffer.copy_from_host_in(order, position, address, size, &mut owner) }
                });
                copied.or_raise(py).map(drop)
            })?;
            Ok(size)
        };
        let facts = |size: &usize| facts_of(buffer, *size);
        traced(py, Area::Transfer, "CudaBuffer.copy_from_host", copy, facts)
    }

    /// Copy data from another device buffer, which may be on another device.
    ///
    /// Parameters
    /// ----------
    /// buf : CudaBuffer
    ///     The data.
    /// position : int, default 0
    ///     Where in this buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for as many as `buf` has and fit.
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     Runs the copy on that stream instead of the default stream, and returns
    ///     at once.  For a copy between two devices, the stream may belong to
    ///     either.
    ///
    /// Returns
    /// -------
    /// nbytes : int
    ///     The number of bytes copied.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `buf` has fewer bytes, if they do not fit, or if this buffer is not
    ///     mutable; if the stream belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"----------")
    /// >>> buf.copy_from_device(ctx.buffer_from_data(b"abcdef"), position=7)
    /// 3
    /// >>> buf.to_pybytes()
    /// b'-------abc'
    #[pyo3(
        signature = (buf, position=0, nbytes=-1, *, stream=None),
        text_signature = "($self, buf, position=0, nbytes=-1, *, stream=None)"
    )]
    fn copy_from_device(
        slf: &Bound<'_, Self>,
        buf: &Bound<'_, PyAny>,
        position: i64,
        nbytes: i64,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let copy = || {
            let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
            let room = after(position, buffer.len())?;
            let data = cuda_buffer_argument(buf)?;
            let size = to_copy(nbytes, data.len(), room, "from device buffer")?;
            copy_device(py, buffer, position as usize, data, size, stream)
        };
        let facts = |size: &usize| facts_of(buffer, *size);
        traced(py, Area::Transfer, "CudaBuffer.copy_from_device", copy, facts)
    }

    /// Set bytes of the buffer to a value.
    ///
    /// Parameters
    /// ----------
    /// value : int
    ///     The value, from 0 to 255.
    /// position : int, default 0
    ///     Where to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to set; -1 for all from `position` on.
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     Sets the bytes on that stream, and returns at once.  By default the
    ///     bytes are set on the default stream, and the call waits until they are.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the range is outside the buffer, if the value does not fit into a
    ///     byte, or if the buffer is not mutable; if the stream belongs to another
    ///     context.
    ///
    /// Examples
    /// --------
    /// >>> buf = cuda.Context(0).new_buffer(8)
    /// >>> buf.fill(ord("-"))
    /// >>> buf.fill(ord("x"), position=2, nbytes=3)
    /// >>> buf.to_pybytes()
    /// b'--xxx---'
    #[pyo3(
        signature = (value, *, position=0, nbytes=-1, stream=None),
        text_signature = "($self, value, *, position=0, nbytes=-1, stream=None)"
    )]
    fn fill(
        slf: &Bound<'_, Self>,
        value: i64,
        position: i64,
        nbytes: i64,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let fill = || {
            let stream = stream.map(|stream| ask("stream", stream)).transpose()?;
            after(position, buffer.len())?;
            let value = u8::try_from(value).map_err(|_| {
                PyValueError::new_err(format!("value argument must be from 0 to 255, not {value}"))
            })?;
            let part = part(py, buffer, position, nbytes)?;
            let chosen = ChosenOrder::of(py, stream, &[buffer.context()])?;
            chosen.copy(py, &[buffer.context()], |order| {
                py.detach(|| part.fill_in(order, value)).or_raise(py).map(drop)
            })?;
            Ok(part.len())
        };
        let facts = |size: &usize| facts_of(buffer, *size);
        traced(py, Area::Transfer, "CudaBuffer.fill", fill, facts).map(drop)
    }
}

/// The bytes that `CudaBuffer.copy_to_file` writes, and its options, which this checks.
#[pyfunction(name = "_writing_options")]
pub(super) fn writing_options<'py>(
    buffer: &Bound<'py, PyAny>,
    position: i64,
    nbytes: i64,
    offset: Option<i64>,
    direct: bool,
    kvikio: Option<bool>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<WritingOptions<'py>> {
    let part = part(buffer.py(), cuda_buffer_argument(buffer)?, position, nbytes)?;
    let offset =
        offset.map(|offset| PyResult::Ok(non_negative("offset", offset)? as u64)).transpose()?;
    Ok((wrap_slice(buffer, part)?, offset, direct, kvikio, progress))
}

type WritingOptions<'py> =
    (Bound<'py, PyAny>, Option<u64>, bool, Option<bool>, Option<Bound<'py, PyAny>>);

/// A new host buffer, which pyarrow allocates if the caller names a pool or wants to resize it.
fn allocate<'py>(
    py: Python<'py>,
    size: usize,
    memory_pool: Option<Bound<'py, PyAny>>,
    resizable: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let resizable = resizable.map_or(Ok(false), |resizable| resizable.is_truthy())?;
    if memory_pool.is_none() && !resizable {
        return allocate_host(py, size);
    }
    pyarrow(py)?.lib.allocate_buffer.bind(py).call1((size, memory_pool, resizable))
}

/// Copies the first `size` bytes of another buffer.  Returns how many these are.
fn copy_device(
    py: Python<'_>,
    buffer: &DeviceBuffer,
    position: usize,
    data: &DeviceBuffer,
    size: usize,
    stream: Option<Named>,
) -> PyResult<usize> {
    let data = data.slice_with_length(0, size).or_raise(py)?;
    let contexts = [buffer.context(), data.context()];
    ChosenOrder::of(py, stream, &contexts)?.copy(py, &contexts, |order| {
        let copied = py.detach(|| buffer.copy_from_device_in(order, position, &data));
        copied.or_raise(py).map(drop)
    })?;
    Ok(size)
}

/// The part of a buffer that `position` and `nbytes` name.
fn part(
    py: Python<'_>,
    buffer: &DeviceBuffer,
    position: i64,
    nbytes: i64,
) -> PyResult<DeviceBuffer> {
    let room = after(position, buffer.len())?;
    let size = to_copy(nbytes, room, room, "in device buffer")?;
    buffer.slice_with_length(position as usize, size).or_raise(py)
}

/// How many bytes there are from a position on.
fn after(position: i64, size: usize) -> PyResult<usize> {
    let position = usize::try_from(position).ok().filter(|position| *position <= size);
    position.map(|position| size - position).ok_or_else(|| out_of_range("position"))
}

/// How many bytes to copy of `available` ones into `room`.
fn to_copy(nbytes: i64, available: usize, room: usize, whence: &str) -> PyResult<usize> {
    let Ok(size) = usize::try_from(nbytes) else { return Ok(available.min(room)) };
    if size > available {
        return Err(more_than_available(whence));
    }
    if size > room {
        return Err(more_than_available("in device buffer"));
    }
    Ok(size)
}

fn more_than_available(whence: &str) -> PyErr {
    PyValueError::new_err(format!("requested more to copy than available {whence}"))
}
