//! `CudaBuffer`.

use crate::contexts::context::PyContext;
use crate::copies::{self, Target};
use crate::errors::{OrRaise, allocating, incorrect_type, non_negative, out_of_range};
use crate::exchange::array_interface;
use crate::exchange::asarray::{check_copied, converted};
use crate::exchange::dlpack::export::{self, Request};
use crate::exchange::dtype::DType;
use crate::files::check_progress;
use crate::interpreter::call_out;
use crate::ipc::handle::PyIpcMemHandle;
use crate::package::package;
use crate::pyarrow::cython_subclass::{Class, constructor};
use crate::pyarrow::from_pyarrow::{device_buffer, host_bytes, is_cuda_buffer, span};
use crate::pyarrow::to_pyarrow::{wrap_buffer, wrap_memory_of, wrap_slice};
use crate::signals::copy_for_signals;
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::{DeviceBuffer, range};
use arrow_cuda_numba_bridge::DeviceArray;
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
    /// >>> array = pa.array([7, 8, 9], pa.uint8()).copy_to(ctx.memory_manager)
    /// >>> values = cuda.CudaBuffer.from_buffer(array.buffers()[1])
    /// >>> values[0], values[2]
    /// (7, 9)
    #[staticmethod]
    fn from_buffer<'py>(buf: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        wrap_memory_of(buf)
    }

    /// View the memory of Numba's pointer as a CudaBuffer.
    ///
    /// Parameters
    /// ----------
    /// mem : numba.cuda.cudadrv.driver.MemoryPointer
    ///     Device memory, such as the ``gpu_data`` of a device array.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     The same memory.  It retains `mem`, and with it the memory.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `mem` is not a Numba pointer.
    ///
    /// Examples
    /// --------
    /// >>> import numba.cuda
    /// >>> array = numba.cuda.to_device(np.array([3, 4], np.uint8))
    /// >>> cuda.CudaBuffer.from_numba(array.gpu_data).to_pybytes()
    /// b'\x03\x04'
    #[staticmethod]
    fn from_numba<'py>(mem: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(mem.py())?.buffer_from_numba.bind(mem.py()), (mem,))
    }

    /// Return a Numba pointer to the buffer's memory.
    ///
    /// Returns
    /// -------
    /// mem : numba.cuda.cudadrv.driver.MemoryPointer
    ///     Retains the buffer, so arrays over the pointer, and their slices, stay
    ///     valid without it.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowInvalid
    ///     If the buffer is immutable.  Numba would write through the pointer.  Pass
    ///     the buffer itself to kernels that only read.
    /// ImportError
    ///     If Numba's CUDA support is not installed.
    ///
    /// Examples
    /// --------
    /// >>> from numba.cuda.cudadrv.devicearray import DeviceNDArray
    /// >>> buf = cuda.Context(0).buffer_from_data(bytes([1, 2, 3]))
    /// >>> array = DeviceNDArray((3,), (1,), np.uint8, gpu_data=buf.to_numba())
    /// >>> array.copy_to_host()
    /// array([1, 2, 3], dtype=uint8)
    fn to_numba<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(slf.py())?.buffer_to_numba.bind(slf.py()), (slf,))
    }

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
    /// stream : Stream or object with ``__cuda_stream__``, optional
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
    fn copy_to_host<'py>(
        slf: &Bound<'py, Self>,
        position: i64,
        nbytes: i64,
        buf: Option<Bound<'py, PyAny>>,
        memory_pool: Option<Bound<'py, PyAny>>,
        resizable: Option<Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = Target { buf, memory_pool, resizable };
        let buffer = device_buffer(slf)?;
        let copy = || copies::to_host(slf.py(), buffer, position, nbytes, target, stream);
        let facts = |(_, size): &(_, u64)| facts_of(buffer, *size);
        let copied = traced(slf.py(), Area::Transfer, "CudaBuffer.copy_to_host", copy, facts);
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
    /// stream : Stream or object with ``__cuda_stream__``, optional
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
    ) -> PyResult<u64> {
        let buffer = device_buffer(slf)?;
        let copy = || copies::from_host(buffer, data, position, nbytes, stream);
        let facts = |size: &u64| facts_of(buffer, *size);
        traced(slf.py(), Area::Transfer, "CudaBuffer.copy_from_host", copy, facts)
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
    /// stream : Stream or object with ``__cuda_stream__``, optional
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
    ) -> PyResult<u64> {
        let buffer = device_buffer(slf)?;
        let copy = || copies::from_device(buffer, buf, position, nbytes, stream);
        let facts = |size: &u64| facts_of(buffer, *size);
        traced(slf.py(), Area::Transfer, "CudaBuffer.copy_from_device", copy, facts)
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
    /// stream : Stream or object with ``__cuda_stream__``, optional
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
        let fill = || copies::fill(py, buffer, value, position, nbytes, stream);
        let facts = |size: &u64| facts_of(buffer, *size);
        traced(py, Area::Transfer, "CudaBuffer.fill", fill, facts).map(drop)
    }

    /// Write the buffer to a file.
    ///
    /// The device copies into one half of some pinned memory while this thread writes
    /// the other to the file.  Waits for work on the default stream, but not for work
    /// on other streams: use ``buf.context.synchronize()`` for that.
    ///
    /// Parameters
    /// ----------
    /// path : str, bytes, os.PathLike, int or file
    ///     A path, the descriptor of an open file, or a binary file that `open`,
    ///     `tempfile` or `pyarrow.OSFile` has opened for writing.  The position of an
    ///     open file does not matter, and stays as it is.
    /// position : int, default 0
    ///     Where in the device buffer to begin, in bytes.
    /// nbytes : int, default -1
    ///     How many bytes to write; -1 for all from `position` on.
    /// offset : int, optional
    ///     Where in the file to begin, in bytes.  The file keeps its other bytes.  By
    ///     default a file that is given by its path has no others: it is created, or
    ///     emptied first.  An open file is written from its start on.
    /// direct : bool, default False
    ///     Whether to write past the system's page cache (``O_DIRECT``), where the file
    ///     system can.
    /// kvikio : bool, optional
    ///     Whether KvikIO writes the file, by GPUDirect Storage if it can.  By default
    ///     it does if it is installed, GPUDirect Storage is available, and at least
    ///     1 MiB is written with `direct`.
    /// progress : callable, optional
    ///     Is called on this thread as ``progress(done, total)``, numbers of bytes:
    ///     every 64 MiB or less, and at the end.  If it raises, nothing more is
    ///     written, and the exception goes on to the caller.
    ///
    /// Returns
    /// -------
    /// nbytes : int
    ///     The number of bytes written.  They are on the disk after ``os.fsync``, as
    ///     with any file.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be opened or written, as `open` raises it, with the path
    ///     as ``filename``; if the device fails.  Some bytes may have been written.
    /// ValueError
    ///     If the range is outside the buffer, `offset` is negative, or the file is open
    ///     for appending.
    /// TypeError
    ///     If `path` is not one of these.
    /// ImportError
    ///     If `kvikio` is True, and it is not installed.
    ///
    /// Examples
    /// --------
    /// >>> import pathlib, tempfile
    /// >>> buf = ctx.buffer_from_data(b"0123456789")
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     path = pathlib.Path(folder, "digits")
    /// ...     buf.copy_to_file(path)
    /// ...     buf.copy_to_file(path, position=7, nbytes=2, offset=1)
    /// ...     path.read_bytes()
    /// 10
    /// 2
    /// b'0783456789'
    #[pyo3(
        signature = (path, position=0, nbytes=-1, *, offset=None, direct=false, kvikio=None, progress=None),
        text_signature = "($self, path, position=0, nbytes=-1, *, offset=None, direct=False, kvikio=None, progress=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "as in Python")]
    fn copy_to_file<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        position: i64,
        nbytes: i64,
        offset: Option<i64>,
        direct: bool,
        kvikio: Option<bool>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        let py = slf.py();
        let buffer = device_buffer(slf)?;
        let part = copies::part(py, buffer, position, nbytes)?;
        let offset = offset.map(|offset| non_negative("offset", offset)).transpose()?;
        check_progress(progress)?;
        let (size, part) = (part.size(), wrap_slice(slf, part)?);
        let write = || {
            let write = package(py)?.buffer_to_file.bind(py);
            call_out(write, (part, path, offset, direct, kvikio, progress)).map(|_| size)
        };
        let facts = |size: &u64| facts_of(buffer, *size);
        traced(py, Area::Transfer, "CudaBuffer.copy_to_file", write, facts)
    }

    /// Export the buffer's memory to other processes.
    ///
    /// The memory is shared, not copied, and stays allocated until this process
    /// ends, even after the buffer is released.
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
            let handle = py.detach(|| arrow_cuda_ipc::export(buffer)).or_raise(py)?;
            Ok(PyIpcMemHandle::new(handle))
        };
        let facts = |_: &_| facts_of(buffer, buffer.size());
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
        let size = buffer.size();
        let start = u64::try_from(offset).map_err(|_| out_of_range("offset"))?;
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
            PyBytes::new_with(py, buffer.size() as usize, |out| {
                copy_for_signals(py, buffer.context(), || {
                    py.detach(|| buffer.copy_to_host(0, out)).or_raise(py)
                })
            })
        };
        let facts = |_: &_| facts_of(buffer, buffer.size());
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
        let bytes = DeviceArray::of_bytes(device_buffer(slf)?).or_raise(slf.py())?;
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
        let bytes = DeviceArray::of_bytes(device_buffer(slf)?).or_raise(slf.py())?;
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
        let size = buffer.size().cast_signed();
        if let Ok(key) = key.cast::<PySlice>() {
            let step = key.getattr(intern!(py, "step"))?;
            if !step.is_none() && step.extract::<i64>()? != 1 {
                return Err(PyIndexError::new_err("only slices with step 1 supported"));
            }
            let indices = key.indices(size as isize)?;
            let start = (indices.start as i64).clamp(0, size);
            let stop = (indices.stop as i64).clamp(start, size);
            return part(slf, buffer, start.cast_unsigned(), (stop - start).cast_unsigned());
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

    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: i32) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(slf.py())?.reduce_buffer.bind(slf.py()), (slf, protocol))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, buffer) = (slf.py(), device_buffer(slf)?);
        let context = buffer.context();
        let copy = || {
            let copied =
                allocating(py, context, || DeviceBuffer::allocate(context, buffer.size()))?;
            py.detach(|| copied.copy_from_device(0, buffer)).or_raise(py)?;
            wrap_buffer(py, if buffer.is_mutable() { copied } else { copied.read_only() })
        };
        let facts = |_: &_| facts_of(buffer, buffer.size());
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
        Err(PyBufferError::new_err("buffer protocol for device buffer not supported"))
    }
}

fn facts_of(buffer: &DeviceBuffer, nbytes: u64) -> Facts {
    Facts::new(nbytes, buffer.context().device().number())
}

fn part<'py>(
    whole: &Bound<'py, Methods>,
    buffer: &DeviceBuffer,
    offset: u64,
    size: u64,
) -> PyResult<Bound<'py, PyAny>> {
    wrap_slice(whole, buffer.slice(offset, size).or_raise(whole.py())?)
}
