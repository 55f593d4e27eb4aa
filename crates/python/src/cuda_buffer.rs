//! `CudaBuffer`.

use crate::bounds::{after, more_than_available, to_copy};
use crate::context::PyContext;
use crate::convert::{
    allocate_host, as_buffer, check_pool, cuda_buffer_argument, device_buffer, host_bytes,
    host_bytes_mut, is_cuda_buffer, span, wrap_memory_of, wrap_slice,
};
use crate::errors::{OrRaise, incorrect_type, non_negative, out_of_range};
use crate::graft::{Class, constructor};
use crate::ipc_handle::PyIpcMemHandle;
use crate::pyarrow::pyarrow;
use arrow_cuda_buffer::range;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use std::ffi::c_int;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow._cuda.CudaBuffer",
    doc: c"An Arrow buffer with data located in a GPU device.\n\n\
        Made by the methods of `Context`: `new_buffer`, `buffer_from_data` and others.\n\n\
        The memory is released with the last buffer over it: slices, readers and\n\
        arrays included.",
    new: constructor!(|_, _, _| Err(PyTypeError::new_err(
        "Do not call CudaBuffer's constructor directly, use \
         `<pyarrow.Context instance>.device_buffer` method instead."
    ))),
};

/// The methods of `CudaBuffer`; `self` is an object of that class.
#[pyclass(frozen, subclass, name = "CudaBuffer", module = "pyarrow._cuda")]
pub(crate) struct Methods;

#[pymethods]
impl Methods {
    /// View the device memory behind a generic buffer as a CudaBuffer.
    ///
    /// Parameters
    /// ----------
    /// buf : Buffer
    ///     A buffer that is, or is a part of, device memory: a slice, a buffer
    ///     of a device array.
    ///
    /// Returns
    /// -------
    /// dbuf : CudaBuffer
    ///     The same memory; mutable when `buf` is.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowTypeError
    ///     If there is no device memory behind it.
    #[staticmethod]
    fn from_buffer<'py>(buf: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        wrap_memory_of(buf)
    }

    /// Copy data from the device to the host.
    ///
    /// Work on the default stream is waited for; work on other streams is not:
    /// use ``buf.context.synchronize()`` for that.
    ///
    /// Parameters
    /// ----------
    /// position : int, default 0
    ///     Where in the device buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for all from `position` on, or as many
    ///     as `buf` takes.
    /// buf : Buffer, optional
    ///     A mutable host buffer to copy into, from its start on.
    /// memory_pool : MemoryPool, optional
    ///     Where to allocate the result, when `buf` is not given.
    /// resizable : bool, default False
    ///     Whether the allocated result is resizable.
    ///
    /// Returns
    /// -------
    /// buf : Buffer
    ///     The host buffer.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If that part does not lie within the buffer, or does not fit.
    /// OSError
    ///     If the copy fails.
    #[pyo3(
        signature = (position=0, nbytes=-1, buf=None, memory_pool=None, resizable=None),
        text_signature = "($self, position=0, nbytes=-1, buf=None, memory_pool=None, resizable=False)"
    )]
    fn copy_to_host<'py>(
        slf: &Bound<'py, Self>,
        position: i64,
        nbytes: i64,
        buf: Option<Bound<'py, PyAny>>,
        memory_pool: Option<Bound<'py, PyAny>>,
        resizable: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let available = after(position, buffer.size())?;
        check_pool("memory_pool", memory_pool.as_ref())?;
        let (out, size) = match buf {
            None => {
                let size = if nbytes < 0 { available } else { nbytes.cast_unsigned() };
                if size > available {
                    return Err(more_than_available("from device buffer"));
                }
                let resizable = resizable.map_or(Ok(false), |resizable| resizable.is_truthy())?;
                if memory_pool.is_none() && !resizable {
                    (allocate_host(py, size)?, size)
                } else {
                    let options = PyDict::new(py);
                    options.set_item("memory_pool", memory_pool)?;
                    options.set_item("resizable", resizable)?;
                    let allocate = pyarrow(py)?.allocate_buffer.bind(py);
                    (allocate.call((size,), Some(&options))?, size)
                }
            }
            Some(out) => {
                let room = span(&out)
                    .ok_or_else(|| incorrect_type("buf", "pyarrow.lib.Buffer", &out))?
                    .size
                    .cast_unsigned();
                let size = if nbytes < 0 { available.min(room) } else { nbytes.cast_unsigned() };
                if size > room {
                    return Err(PyValueError::new_err(
                        "requested copy does not fit into host buffer",
                    ));
                }
                if size > available {
                    return Err(more_than_available("from device buffer"));
                }
                (out, size)
            }
        };
        let bytes = host_bytes_mut(&out, size)?;
        py.detach(|| buffer.copy_to_uninit(position.cast_unsigned(), bytes)).or_raise(py)?;
        Ok(out)
    }

    /// Copy data from the host into the buffer.
    ///
    /// Parameters
    /// ----------
    /// data : Buffer or array-like
    ///     The data: anything that `pyarrow.py_buffer` takes.
    /// position : int, default 0
    ///     Where in the device buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for as many as there are and fit.
    ///
    /// Returns
    /// -------
    /// nbytes : int
    ///     The number of bytes copied.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are not that many bytes, or they do not fit.
    /// OSError
    ///     If the copy fails.
    #[pyo3(signature = (data, position=0, nbytes=-1))]
    fn copy_from_host(
        slf: &Bound<'_, Self>,
        data: &Bound<'_, PyAny>,
        position: i64,
        nbytes: i64,
    ) -> PyResult<u64> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let room = after(position, buffer.size())?;
        let data = as_buffer(data)?;
        let position = position.cast_unsigned();
        if span(&data).is_some_and(|span| !span.is_cpu) {
            let data = if is_cuda_buffer(&data)? { data } else { wrap_memory_of(&data)? };
            let data = device_buffer(&data)?;
            let size = to_copy(nbytes, data.size(), room, "from host buffer")?;
            let data = data.slice(0, size).or_raise(py)?;
            py.detach(|| buffer.copy_from_device(position, &data)).or_raise(py)?;
            return Ok(size);
        }
        let bytes = host_bytes(&data)?;
        let size = to_copy(nbytes, bytes.len() as u64, room, "from host buffer")?;
        let bytes = &bytes[..size as usize];
        py.detach(|| buffer.copy_from_host(position, bytes)).or_raise(py)?;
        Ok(size)
    }

    /// Copy data from another device buffer, which may lie on another device.
    ///
    /// Parameters
    /// ----------
    /// buf : CudaBuffer
    ///     The data.
    /// position : int, default 0
    ///     Where in this buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to copy; -1 for as many as there are and fit.
    ///
    /// Returns
    /// -------
    /// nbytes : int
    ///     The number of bytes copied.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are not that many bytes, or they do not fit.
    /// OSError
    ///     If the copy fails.
    #[pyo3(signature = (buf, position=0, nbytes=-1))]
    fn copy_from_device(
        slf: &Bound<'_, Self>,
        buf: &Bound<'_, PyAny>,
        position: i64,
        nbytes: i64,
    ) -> PyResult<u64> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let room = after(position, buffer.size())?;
        let data = cuda_buffer_argument(buf)?;
        let size = to_copy(nbytes, data.size(), room, "from device buffer")?;
        let data = data.slice(0, size).or_raise(py)?;
        py.detach(|| buffer.copy_from_device(position.cast_unsigned(), &data)).or_raise(py)?;
        Ok(size)
    }

    /// Name the buffer's memory to other processes.
    ///
    /// The memory is shared, not copied, and stays allocated until this process
    /// ends, even when the buffer goes.
    ///
    /// Returns
    /// -------
    /// ipc_handle : IpcMemHandle
    ///     To be serialized and opened in another process.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowInvalid
    ///     If the memory was imported from another process.
    /// OSError
    ///     If the driver cannot share the memory.
    fn export_for_ipc(slf: &Bound<'_, Self>) -> PyResult<PyIpcMemHandle> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let handle = py.detach(|| arrow_cuda_ipc::export(buffer)).or_raise(py)?;
        Ok(PyIpcMemHandle::new(handle))
    }

    /// The CUDA driver context that the memory lives in.
    ///
    /// Returns
    /// -------
    /// Context
    #[getter]
    fn context(slf: &Bound<'_, Self>) -> PyResult<PyContext> {
        Ok(PyContext::new(device_buffer(slf)?.context().clone()))
    }

    /// Return a part of the buffer, which shares its memory.
    ///
    /// Parameters
    /// ----------
    /// offset : int, default 0
    ///     Where the part begins, in bytes.
    /// length : int, optional
    ///     How many bytes it has; all from `offset` on by default, and no more
    ///     than there are.
    ///
    /// Returns
    /// -------
    /// sliced : CudaBuffer
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `offset` is outside the buffer, or `length` is negative.
    #[pyo3(signature = (offset=0, length=None))]
    fn slice<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        length: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = device_buffer(slf)?.size();
        let start = u64::try_from(offset).map_err(|_| out_of_range("offset"))?;
        if start > size || (start == size && size > 0) {
            return Err(out_of_range("offset"));
        }
        let length = match length {
            None => size,
            Some(length) => non_negative("length", length)?,
        };
        part(slf, start, range::available(start, length, size))
    }

    /// Whether two buffers hold exactly the same bytes.
    ///
    /// The device compares buffers of one context; the host compares a device
    /// buffer with a host buffer, or with one on another device.
    ///
    /// Parameters
    /// ----------
    /// other : Buffer
    ///
    /// Returns
    /// -------
    /// are_equal : bool
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the memory cannot be read.
    fn equals(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let theirs =
            span(other).ok_or_else(|| incorrect_type("other", "pyarrow.lib.Buffer", other))?;
        if theirs.is_cpu {
            let bytes = host_bytes(other)?;
            return py.detach(|| buffer.equals_host(bytes)).or_raise(py);
        }
        let other = if is_cuda_buffer(other)? { other.clone() } else { wrap_memory_of(other)? };
        let other = device_buffer(&other)?;
        py.detach(|| buffer.equals(other)).or_raise(py)
    }

    /// Return the content as hexadecimal digits.
    ///
    /// Returns
    /// -------
    /// bytes
    fn hex<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy_to_host(slf, 0, -1, None, None, None)?.call_method0("hex")
    }

    /// Return the content as Python bytes.
    ///
    /// Returns
    /// -------
    /// bytes
    fn to_pybytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        PyBytes::new_with(py, buffer.size() as usize, |out| {
            py.detach(|| buffer.copy_to_host(0, out)).or_raise(py)
        })
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let size = buffer.size().cast_signed();
        if let Ok(key) = key.cast::<PySlice>() {
            let step = key.getattr("step")?;
            if !step.is_none() && step.extract::<i64>()? != 1 {
                return Err(PyIndexError::new_err("only slices with step 1 supported"));
            }
            let indices = key.indices(size as isize)?;
            let start = (indices.start as i64).clamp(0, size);
            let stop = (indices.stop as i64).clamp(start, size);
            return part(slf, start.cast_unsigned(), (stop - start).cast_unsigned());
        }
        let index: i64 = key.extract()?;
        let index = if index < 0 { index + size } else { index };
        if index < 0 || index >= size {
            return Err(PyIndexError::new_err("index out of bounds"));
        }
        let mut byte = [0];
        py.detach(|| buffer.copy_to_host(index.cast_unsigned(), &mut byte)).or_raise(py)?;
        Ok(byte[0].into_pyobject(py)?.into_any())
    }

    // Device memory has no address that the host could read.
    unsafe fn __getbuffer__(
        _slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        _flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: the protocol demands that a refusal clears this field.
        unsafe { (*view).obj = std::ptr::null_mut() };
        Err(PyBufferError::new_err("buffer protocol for device buffer not supported"))
    }
}

fn part<'py>(whole: &Bound<'py, Methods>, offset: u64, size: u64) -> PyResult<Bound<'py, PyAny>> {
    let part = device_buffer(whole)?.slice(offset, size).or_raise(whole.py())?;
    wrap_slice(whole, part)
}
