//! `CudaBuffer`.

use crate::contexts::context::PyContext;
use crate::errors::{OrRaise, incorrect_type, non_negative, out_of_range};
use crate::exchange::array_interface;
use crate::exchange::asarray::{check_copied, converted};
use crate::exchange::dlpack::export::{self, Request};
use crate::exchange::dtype::DType;
use crate::ipc::handle::PyIpcMemHandle;
use crate::pyarrow::cython_subclass::{Class, constructor};
use crate::pyarrow::from_pyarrow::{device_buffer, host_bytes, is_cuda_buffer, span};
use crate::pyarrow::to_pyarrow::{wrap_buffer, wrap_memory_of, wrap_slice};
use crate::signals::{copy_for_signals, wait_for_signals};
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::{DeviceBuffer, range};
use arrow_cuda_numba_bridge::StridedArray;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use std::ffi::c_int;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow._cuda.CudaBuffer",
    signature: "()",
    doc: c"An Arrow buffer with data located in a GPU device.\n\
        \n\
        Use the methods of `Context` to make one (`new_buffer`, `buffer_from_data` and\n\
        others), not the constructor.  It is a `pyarrow.Buffer`: `size` is in bytes, and\n\
        `address` is a device address.  Indexing returns a byte; slicing with step 1\n\
        returns a buffer that shares the memory.\n\
        \n\
        The memory is released with the last buffer over it: slices, readers and\n\
        arrays included.\n\
        \n\
        Examples\n\
        --------\n\
        >>> from pyarrow import cuda\n\
        >>> ctx = cuda.Context(0)\n\
        >>> buf = ctx.buffer_from_data(b\"on the device\")\n\
        >>> buf.size, buf.is_cpu\n\
        (13, False)\n\
        >>> buf[0], buf[-6:].to_pybytes()\n\
        (111, b'device')",
    new: constructor!(|_, _, _| Err(PyTypeError::new_err(
        "Do not call CudaBuffer's constructor directly, use \
         `<pyarrow.Context instance>.device_buffer` method instead.  That is a former name: \
         Context.new_buffer(nbytes) allocates a buffer, and Context.buffer_from_data copies data \
         into one"
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
    ///     A buffer over device memory: a CudaBuffer, a slice of one, or a buffer
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
    ///     If `buf` is not backed by device memory.
    ///
    /// Examples
    /// --------
    /// >>> array = pa.array([7, 8, 9], pa.uint8()).copy_to(ctx)
    /// >>> values = cuda.CudaBuffer.from_buffer(array.buffers()[1])
    /// >>> values[0], values[2]
    /// (7, 9)
    #[staticmethod]
    fn from_buffer<'py>(buf: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        wrap_memory_of(buf)
    }

    /// Export the buffer's memory to other processes.
    ///
    /// The memory is shared, not copied, and stays allocated until this process
    /// ends, even after the buffer is released.  The call waits for the work that is
    /// queued in the buffer's context, on all streams: nothing else would order the
    /// work of other processes after it.
    ///
    /// Returns
    /// -------
    /// ipc_handle : IpcMemHandle
    ///     A handle to serialize, and to open in another process.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowInvalid
    ///     If the memory was imported from another process.
    /// OSError
    ///     If the driver cannot export the memory.
    ///
    /// Examples
    /// --------
    /// >>> handle = ctx.buffer_from_data(b"shared").export_for_ipc()
    /// >>> handle.serialize().size
    /// 72
    fn export_for_ipc(slf: &Bound<'_, Self>) -> PyResult<PyIpcMemHandle> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let export = || {
            let export = || arrow_cuda_ipc::export(buffer);
            let handle = wait_for_signals(py, export)?.or_raise(py)?;
            Ok(PyIpcMemHandle { handle })
        };
        let facts = |_: &_| facts_of(buffer, buffer.len());
        traced(py, Area::Ipc, "CudaBuffer.export_for_ipc", export, facts)
    }

    /// The CUDA driver context that the memory belongs to.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.new_buffer(16)
    /// >>> buf.context.handle == ctx.handle
    /// True
    #[getter]
    fn context(slf: &Bound<'_, Self>) -> PyResult<PyContext> {
        Ok(PyContext::new(device_buffer(slf)?.context().clone()))
    }

    /// Return a slice of the buffer, which shares its memory.
    ///
    /// Parameters
    /// ----------
    /// offset : int, default 0
    ///     Where the slice begins, in bytes.
    /// length : int, optional
    ///     The size of the slice in bytes; by default, and at most, all bytes from
    ///     `offset` on.
    ///
    /// Returns
    /// -------
    /// sliced : CudaBuffer
    ///     Retains the memory.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `offset` is outside the buffer, or `length` is negative.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"0123456789")
    /// >>> part = buf.slice(4, 3)
    /// >>> part.to_pybytes(), part.address - buf.address
    /// (b'456', 4)
    /// >>> buf[4:7].equals(part)
    /// True
    #[pyo3(signature = (offset=0, length=None))]
    fn slice<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        length: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let buffer = device_buffer(slf)?;
        let size = buffer.len();
        let start = usize::try_from(offset).map_err(|_| out_of_range("offset"))?;
        if start > size || (start == size && size > 0) {
            return Err(out_of_range("offset"));
        }
        let length = match length {
            None => size,
            Some(length) => non_negative("length", length)?,
        };
        part(slf, buffer, start, range::available(start, length, size))
    }

    /// Whether two buffers hold exactly the same bytes.
    ///
    /// The device compares, and stops soon after a difference.  A buffer on
    /// another device is copied to this buffer's device in pieces of up to
    /// 64 MiB.  The host compares a host buffer.
    ///
    /// Parameters
    /// ----------
    /// other : Buffer
    ///     A buffer on the host or on any device.
    ///
    /// Returns
    /// -------
    /// are_equal : bool
    ///     False for buffers of different sizes.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"same bytes")
    /// >>> buf.equals(ctx.buffer_from_data(b"same bytes"))
    /// True
    /// >>> buf.equals(pa.py_buffer(b"other bytes"))
    /// False
    fn equals(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let theirs =
            span(other).ok_or_else(|| incorrect_type("other", "pyarrow.lib.Buffer", other))?;
        if theirs.is_cpu {
            return copy_for_signals(py, buffer.context(), || {
                let bytes = host_bytes(other)?;
                py.detach(|| buffer.equals_host(bytes)).or_raise(py)
            });
        }
        let other = if is_cuda_buffer(other)? { other.clone() } else { wrap_memory_of(other)? };
        let other = device_buffer(&other)?;
        copy_for_signals(py, buffer.context(), || py.detach(|| buffer.equals(other)).or_raise(py))
    }

    /// Return the content as hexadecimal digits.
    ///
    /// Returns
    /// -------
    /// digits : bytes
    ///     Two uppercase digits for each byte.
    ///
    /// Examples
    /// --------
    /// >>> ctx.buffer_from_data(b"hi").hex()
    /// b'6869'
    fn hex<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy_to_host(slf, 0, -1, None, None, None, None)?.call_method0("hex")
    }

    /// Return the content as Python bytes.
    ///
    /// Returns
    /// -------
    /// data : bytes
    ///     A copy on the host.
    ///
    /// Examples
    /// --------
    /// >>> ctx.buffer_from_data(b"there and back").to_pybytes()
    /// b'there and back'
    fn to_pybytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let copy = || {
            PyBytes::new_with(py, buffer.len(), |out| {
                copy_for_signals(py, buffer.context(), || {
                    py.detach(|| buffer.copy_to_host(out)).or_raise(py)
                })
            })
        };
        let facts = |_: &_| facts_of(buffer, buffer.len());
        traced(py, Area::Transfer, "CudaBuffer.to_pybytes", copy, facts)
    }

    /// The buffer's bytes as a NumPy array; ``numpy.asarray(buf)`` calls this
    /// method.
    ///
    /// Parameters
    /// ----------
    /// dtype : numpy.dtype, optional
    ///     What to convert the bytes' values to, on the host; by default they stay
    ///     ``uint8``.  To read the bytes as another type,
    ///     use ``numpy.frombuffer(buf.copy_to_host(), dtype)``.
    /// copy : bool, optional
    ///     False is refused: the host cannot access device memory.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     A copy on the host, of one dimension.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `copy` is False.
    ///
    /// Examples
    /// --------
    /// >>> np.asarray(cuda.Context(0).buffer_from_data(b"\x01\x02\x03"))
    /// array([1, 2, 3], dtype=uint8)
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_copied("a buffer", copy)?;
        let bytes = Self::copy_to_host(slf, 0, -1, None, None, None, None)?;
        let numpy = slf.py().import(intern!(slf.py(), "numpy"))?;
        let array = numpy.call_method1(intern!(slf.py(), "frombuffer"), (bytes, "u1"))?;
        converted(array, dtype)
    }

    /// The buffer's bytes in version 3 of the CUDA array interface.
    ///
    /// Describes an array of unsigned bytes; `DeviceArray` adds other types and
    /// shapes.
    ///
    /// Waits for work queued on the legacy default stream, because several
    /// consumers ignore the interface's `stream`, which is None.
    ///
    /// Examples
    /// --------
    /// >>> buf = cuda.Context(0).buffer_from_data(b"0123456789")
    /// >>> interface = buf.__cuda_array_interface__
    /// >>> interface["shape"], interface["typestr"]
    /// ((10,), '|u1')
    /// >>> interface["data"] == (buf.address, False)
    /// True
    #[getter]
    fn __cuda_array_interface__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = StridedArray::of_bytes(device_buffer(slf)?).or_raise(slf.py())?;
        array_interface::to_dict(slf.py(), &bytes, &DType::of_element(bytes.element()))
    }

    /// Return the buffer's bytes in a DLPack capsule.
    ///
    /// Parameters
    /// ----------
    /// stream : int, optional
    ///     The consumer's stream, which is made to wait for all work queued on the
    ///     legacy default stream so far; -1 to leave the order to the caller.
    /// max_version : tuple of int, optional
    ///     The newest version that the consumer supports; without it, the capsule
    ///     has the form of versions before 1.0.
    /// dl_device : tuple of int, optional
    ///     The device for the tensor: ``(1, 0)`` is the host, ``(2, n)`` a CUDA
    ///     device.  By default the buffer's own.
    /// copy : bool, optional
    ///     True to always copy; False to raise an error if a copy is needed.
    ///
    /// Returns
    /// -------
    /// capsule
    ///     A tensor of unsigned bytes, which retains the memory.
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     If the memory is not available on that device, or in that way.
    /// ValueError
    ///     If the stream is not valid.
    ///
    /// Examples
    /// --------
    /// >>> buf = cuda.Context(0).buffer_from_data(b"\x01\x02\x03")
    /// >>> np.from_dlpack(buf, device="cpu")
    /// array([1, 2, 3], dtype=uint8)
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = Request { stream, max_version, dl_device, copy };
        let bytes = StridedArray::of_bytes(device_buffer(slf)?).or_raise(slf.py())?;
        export::to_capsule(slf.py(), &bytes, &request)
    }

    /// The device of the memory, in DLPack's numbers.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     2 for CUDA, and the device's number.
    ///
    /// Examples
    /// --------
    /// >>> cuda.Context(0).new_buffer(10).__dlpack_device__()
    /// (2, 0)
    fn __dlpack_device__(slf: &Bound<'_, Self>) -> PyResult<(i32, u32)> {
        Ok(export::device(device_buffer(slf)?))
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let size = buffer.len() as i64;
        if let Ok(key) = key.cast::<PySlice>() {
            let step = key.getattr(intern!(py, "step"))?;
            if !step.is_none() && step.extract::<i64>()? != 1 {
                return Err(PyIndexError::new_err("only slices with step 1 supported"));
            }
            let indices = key.indices(size as isize)?;
            return part(slf, buffer, indices.start as usize, indices.slicelength as usize);
        }
        let index: i64 = key.extract()?;
        let index = if index < 0 { index + size } else { index };
        if index < 0 || index >= size {
            return Err(PyIndexError::new_err("index out of bounds"));
        }
        let mut byte = [0];
        py.detach(|| buffer.slice_with_length(index as usize, 1)?.copy_to_host(&mut byte))
            .or_raise(py)?;
        Ok(byte[0].into_pyobject(py)?.into_any())
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let context = buffer.context();
        let copy = || {
            let copied =
                py.detach(|| DeviceBuffer::allocate(context, buffer.len())).or_raise(py)?;
            py.detach(|| copied.copy_from_device(buffer)).or_raise(py)?;
            wrap_buffer(py, if buffer.is_mutable() { copied } else { copied.read_only() })
        };
        let facts = |_: &_| facts_of(buffer, buffer.len());
        traced(py, Area::Transfer, "CudaBuffer.__copy__", copy, facts)
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::__copy__(slf)
    }

    // Device memory has no address that the host could read.
    unsafe fn __getbuffer__(
        _slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        _flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: the protocol demands that a refusal clears this field.
        unsafe { (*view).obj = std::ptr::null_mut() };
        Err(PyBufferError::new_err(
            "buffer protocol for device buffer not supported; to_pybytes() and copy_to_host() copy \
             it to the host",
        ))
    }
}

pub(super) fn facts_of(buffer: &DeviceBuffer, nbytes: usize) -> Facts {
    Facts::new(nbytes, buffer.context().device().number())
}

fn part<'py>(
    whole: &Bound<'py, Methods>,
    buffer: &DeviceBuffer,
    offset: usize,
    size: usize,
) -> PyResult<Bound<'py, PyAny>> {
    wrap_slice(whole, buffer.slice_with_length(offset, size).or_raise(whole.py())?)
}
