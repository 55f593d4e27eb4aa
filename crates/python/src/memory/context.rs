//! `Context`.

use crate::copies::source::Data;
use crate::copies::together;
use crate::errors::{OrRaise, available, expected, non_negative, out_of_range};
use crate::exchange::views;
use crate::files::check_progress;
use crate::interpreter::{call_out, copy_for_signals, wait_for_signals};
use crate::ipc::handle::PyIpcMemHandle;
use crate::package::package;
use crate::pyarrow::from_pyarrow::device_buffer;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Device, completed};
use arrow_cuda_driver::{CallError, codes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A CUDA driver context.
///
/// Parameters
/// ----------
/// device_number : int, default 0
///     The GPU to work on.
/// handle : int, optional
///     The ``CUcontext`` handle of a context that another library created.
///     This package borrows the context: it checks the context before each use,
///     and never destroys it.  By default it uses the device's primary context,
///     which all libraries in a process share.
///
/// Raises
/// ------
/// ValueError
///     If the device does not exist.
/// OSError
///     If the CUDA driver is missing, or the handle is not a context of the device.
///
/// Notes
/// -----
/// Objects for the same driver context are equal, and have the same hash.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> ctx = cuda.Context(0)
/// >>> ctx.device_number
/// 0
/// >>> cuda.Context(handle=ctx.handle) == ctx
/// True
#[pyclass(frozen, subclass, weakref, name = "Context", module = "pyarrow._cuda")]
pub(crate) struct PyContext {
    context: Context,
}

impl PyContext {
    pub(crate) fn new(context: Context) -> Self {
        Self { context }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
}

#[pymethods]
impl PyContext {
    #[new]
    #[pyo3(signature = (device_number=0, handle=0))]
    fn construct(py: Python<'_>, device_number: i32, handle: usize) -> PyResult<Self> {
        let count = py.detach(Device::count).or_raise(py)?;
        let Some(number) = u32::try_from(device_number).ok().filter(|number| *number < count)
        else {
            return Err(PyValueError::new_err(format!(
                "device_number argument must be non-negative less than {count}"
            )));
        };
        let context = py
            .detach(|| match handle {
                0 => Context::primary(number),
                handle => Context::borrowed(number, handle),
            })
            .or_raise(py)?;
        Ok(Self { context })
    }

    /// Contexts are equal that are the same one of the driver's.  A context that is gone equals
    /// no later one, even if the driver has given that the same handle.
    fn __eq__(&self, other: &Self) -> bool {
        self.context.is_same(&other.context)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.context.identity().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!(
            "<pyarrow.cuda.Context device_number={} handle={:#x} is_primary={}>",
            self.context.device().number(),
            self.context.handle(),
            if self.context.is_primary() { "True" } else { "False" }
        )
    }

    /// View a Numba context as a Context.
    ///
    /// Parameters
    /// ----------
    /// context : numba.cuda.cudadrv.driver.Context, optional
    ///     The context; Numba's current one by default.
    ///
    /// Returns
    /// -------
    /// shared_context : Context
    ///     The same driver context, on the same device.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     If the call needs Numba's CUDA support and it is not installed.
    /// TypeError
    ///     If `context` is not a Numba context.
    ///
    /// Examples
    /// --------
    /// >>> import numba.cuda
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context.from_numba(numba.cuda.current_context())
    /// >>> ctx.device_number
    /// 0
    #[staticmethod]
    #[pyo3(signature = (context=None))]
    fn from_numba<'py>(
        py: Python<'py>,
        context: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(py)?.context_from_numba.bind(py), (context,))
    }

    /// Return the context as a Numba context.
    ///
    /// Returns
    /// -------
    /// context : numba.cuda.cudadrv.driver.Context
    ///     For the device's primary context, Numba's own object for the device;
    ///     otherwise a new object, in which Numba does not run kernels.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     If Numba's CUDA support is not installed.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> ctx.to_numba().device.id
    /// 0
    fn to_numba<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(slf.py())?.context_to_numba.bind(slf.py()), (slf,))
    }

    /// Return the number of GPU devices.
    ///
    /// Returns
    /// -------
    /// count : int
    ///     Devices are numbered from 0.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the CUDA driver is missing, or does not find a device.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> cuda.Context.get_num_devices() >= 1
    /// True
    #[staticmethod]
    fn get_num_devices(py: Python<'_>) -> PyResult<u32> {
        py.detach(Device::count).or_raise(py)
    }

    /// The number of the context's device.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> cuda.Context(0).device_number
    /// 0
    #[getter]
    fn device_number(&self) -> u32 {
        self.context.device().number()
    }

    /// The ``CUcontext`` handle, as an integer.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> ctx.handle == cuda.Context(0).handle
    /// True
    #[getter]
    fn handle(&self) -> usize {
        self.context.handle()
    }

    /// Block until the device has completed all work queued in the context.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> buf = ctx.buffer_from_data(b"data")
    /// >>> ctx.synchronize()
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        wait_for_signals(py, || self.context.synchronize())?.or_raise(py)?;
        drop(completed());
        Ok(())
    }

    /// The number of bytes that this process has allocated in the context.
    ///
    /// Counts the requested bytes, from allocation to release.  Slices, foreign
    /// memory, memory of other processes and that of an allocator of the program's
    /// (`set_allocator`) do not count.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> before = ctx.bytes_allocated
    /// >>> buf = ctx.new_buffer(1000)
    /// >>> part = buf.slice(0, 10)
    /// >>> ctx.bytes_allocated - before
    /// 1000
    #[getter]
    fn bytes_allocated(&self, py: Python<'_>) -> PyResult<u64> {
        self.context.bytes_allocated().or_raise(py)
    }

    /// Return the address at which the device accesses some memory.
    ///
    /// Parameters
    /// ----------
    /// address : int
    ///     An address of device memory, or of host memory that is mapped for
    ///     the device: pinned or managed.
    ///
    /// Returns
    /// -------
    /// device_address : int
    ///     The same number as `address`, for device memory.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the driver does not know the memory.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> buf = ctx.new_buffer(16)
    /// >>> ctx.get_device_address(buf.address) == buf.address
    /// True
    fn get_device_address(&self, py: Python<'_>, address: u64) -> PyResult<u64> {
        py.detach(|| arrow_cuda_buffer::device_address(&self.context, address)).or_raise(py)
    }

    /// Allocate uninitialised device memory.
    ///
    /// Parameters
    /// ----------
    /// nbytes : int
    ///     The number of bytes.
    ///
    /// Returns
    /// -------
    /// buf : CudaBuffer
    ///     Owns the memory: it is released with the last buffer over it.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `nbytes` is negative.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> buf = ctx.new_buffer(128)
    /// >>> buf.size, buf.is_cpu, buf.is_mutable
    /// (128, False, True)
    fn new_buffer<'py>(&self, py: Python<'py>, nbytes: i64) -> PyResult<Bound<'py, PyAny>> {
        let allocate = || {
            let size = non_negative("nbytes", nbytes)?;
            wrap_buffer(py, self.allocate(py, size)?)
        };
        let facts = |_: &_| self.facts(nbytes.cast_unsigned());
        traced(py, Area::Allocation, "Context.new_buffer", allocate, facts)
    }

    /// The memory manager of the context's device.
    ///
    /// Returns
    /// -------
    /// pyarrow.MemoryManager
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> import pyarrow as pa
    /// >>> array = pa.array([1, 2, None]).copy_to(ctx.memory_manager)
    /// >>> array.device_type
    /// <DeviceAllocationType.CUDA: 2>
    #[getter]
    fn memory_manager<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        memory_manager(py, &self.context)
    }

    /// The context's device.
    ///
    /// Returns
    /// -------
    /// pyarrow.Device
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> ctx.device.device_id, ctx.device.is_cpu
    /// (0, False)
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.new_buffer(py, 0)?.getattr("device")
    }

    /// View memory with another owner as a device buffer.
    ///
    /// Parameters
    /// ----------
    /// address : int
    ///     Where the memory begins: device memory, or host memory that is
    ///     mapped for the device.
    /// size : int
    ///     The number of bytes.
    /// base : object, optional
    ///     The object that owns the memory.  All buffers over the memory retain it,
    ///     slices, readers and arrays included.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Does not own the memory.  If address and size are 0, a new empty
    ///     buffer.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the driver does not know the memory.
    /// ValueError
    ///     If the memory ends before `size` bytes, or is on another device.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> theirs = ctx.buffer_from_data(b"foreign memory")
    /// >>> view = ctx.foreign_buffer(theirs.address, 7, base=theirs)
    /// >>> view.to_pybytes()
    /// b'foreign'
    #[pyo3(signature = (address, size, base=None))]
    fn foreign_buffer<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: i64,
        base: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        views::of_address(py, &self.context, address, size, base)
    }

    /// Map device memory that another process has exported.
    ///
    /// Parameters
    /// ----------
    /// ipc_handle : IpcMemHandle
    ///     The exporter's handle, from `IpcMemHandle.from_buffer`.
    ///
    /// Returns
    /// -------
    /// buf : CudaBuffer
    ///     Shares the memory, and unmaps it with the last buffer over it.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the memory has been released, or was exported by this process itself.
    /// ValueError
    ///     If the handle exceeds the allocation.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> import subprocess, sys
    /// >>> shared = ctx.buffer_from_data(b"shared")
    /// >>> handle = shared.export_for_ipc().serialize().to_pybytes()
    /// >>> script = '''
    /// ... import sys, pyarrow as pa
    /// ... from pyarrow import cuda
    /// ... handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(sys.stdin.buffer.read()))
    /// ... print(cuda.Context(0).open_ipc_buffer(handle).to_pybytes())
    /// ... '''
    /// >>> other = subprocess.run([sys.executable, "-c", script], input=handle, capture_output=True)
    /// >>> other.stdout
    /// b"b'shared'\n"
    fn open_ipc_buffer<'py>(
        &self,
        py: Python<'py>,
        ipc_handle: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = ipc_handle
            .cast::<PyIpcMemHandle>()
            .map_err(|_| expected("IpcMemHandle", ipc_handle))?
            .get()
            .handle();
        let open = || {
            let buffer = py
                .detach(|| arrow_cuda_ipc::open(&self.context, handle))
                .or_raise_explained(py, own_memory)?;
            wrap_buffer(py, buffer)
        };
        let facts = |_: &_| self.facts(handle.size());
        traced(py, Area::Ipc, "Context.open_ipc_buffer", open, facts)
    }

    /// Allocate device memory and copy data into it.
    ///
    /// Parameters
    /// ----------
    /// data : CudaBuffer, HostBuffer, Buffer or array-like
    ///     The data to copy.
    /// offset : int, default 0
    ///     Where in `data` to begin, in bytes.
    /// size : int, optional
    ///     How many bytes to copy; by default all from `offset` on.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Owns the copy.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `data` has fewer bytes.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> ctx.buffer_from_data(b"0123456789", offset=2, size=4).to_pybytes()
    /// b'2345'
    /// >>> import numpy as np
    /// >>> ctx.buffer_from_data(np.arange(3, dtype=np.int32)).size
    /// 12
    #[pyo3(
        signature = (data, offset=0, size=-1),
        text_signature = "($self, data, offset=0, size=-1)"
    )]
    fn buffer_from_data<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        offset: i64,
        size: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let copy = || self.copy_of(py, data, offset, size);
        let buffer = traced(py, Area::Transfer, "Context.buffer_from_data", copy, |copy| {
            self.facts(copy.size())
        })?;
        wrap_buffer(py, buffer)
    }

    /// Allocate device memory and read a file into it.
    ///
    /// Several threads read a large file, straight into pinned memory, so its bytes
    /// are copied once on the host.  To read Arrow data that lies in the file, open
    /// the buffer: ``pa.ipc.open_file(cuda.BufferReader(buf))``.
    ///
    /// Parameters
    /// ----------
    /// path : str, bytes, os.PathLike, int or file
    ///     A path, the descriptor of an open file, or a file that ``open(path, "rb")``,
    ///     `tempfile` or `pyarrow.OSFile` has opened.  The position of an open file does
    ///     not matter, and stays as it is.  What has no size, such as a pipe or a file
    ///     of ``/proc``, is read to its end, or until there are `nbytes`, by one thread.
    /// offset : int, default 0
    ///     Where in the file to begin, in bytes.
    /// nbytes : int, optional
    ///     How many bytes to read; by default all from `offset` on.
    /// direct : bool, optional
    ///     Whether to read past the system's page cache (``O_DIRECT``), where the file
    ///     system can.  By default that is done if most of the bytes are not in the
    ///     cache, and they would take more than half of the memory that the system
    ///     has available.
    /// kvikio : bool, optional
    ///     Whether KvikIO reads the file, by GPUDirect Storage if it can.  By default
    ///     it does if it is installed, GPUDirect Storage is available, at least
    ///     1 MiB is read of which most is not in the page cache, and `direct` is not
    ///     False.
    /// progress : callable, optional
    ///     Is called on this thread as ``progress(done, total)``, numbers of bytes:
    ///     every 64 MiB or less, and at the end.  If it raises, nothing more is read,
    ///     and the exception goes on to the caller.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Owns the memory.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be opened or read, as `open` raises it, with the path as
    ///     ``filename``; if it becomes shorter meanwhile.
    /// ValueError
    ///     If the file has fewer bytes, or a number is negative.
    /// TypeError
    ///     If `path` is none of these: the bytes of other objects need not be those of
    ///     their descriptors.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    /// ImportError
    ///     If `kvikio` is True, and it is not installed.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> with tempfile.NamedTemporaryFile() as file:
    /// ...     written = file.write(b"columns")
    /// ...     file.flush()
    /// ...     ctx.buffer_from_file(file.name).to_pybytes()
    /// ...     ctx.buffer_from_file(file, offset=3, nbytes=2).to_pybytes()
    /// b'columns'
    /// b'um'
    #[pyo3(signature = (path, offset=0, nbytes=None, *, direct=None, kvikio=None, progress=None))]
    fn buffer_from_file<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        offset: i64,
        nbytes: Option<i64>,
        direct: Option<bool>,
        kvikio: Option<bool>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let offset = non_negative("offset", offset)?;
        let nbytes = nbytes.map(|nbytes| non_negative("nbytes", nbytes)).transpose()?;
        check_progress(progress)?;
        let py = slf.py();
        let read = || {
            let read = package(py)?.buffer_from_file.bind(py);
            call_out(read, (slf, path, offset, nbytes, direct, kvikio, progress))
        };
        let facts = |read: &_| {
            let nbytes = device_buffer(read).map(DeviceBuffer::size).ok();
            Facts { nbytes, device: Some(slf.get().device_number()) }
        };
        traced(py, Area::Transfer, "Context.buffer_from_file", read, facts)
    }

    /// Copy the data of several objects into device memory, all of it together.
    ///
    /// This takes far less time than a call for each of many small objects: one
    /// allocation holds all of the data, and one copy brings it there.
    ///
    /// Parameters
    /// ----------
    /// data : iterable of CudaBuffer, HostBuffer, Buffer or array-like
    ///     The data to copy: at most 2**24 objects.
    ///
    /// Returns
    /// -------
    /// cbufs : list of CudaBuffer
    ///     A buffer for each object, at an address that is a multiple of 256.  The
    ///     buffers lie beside each other: a process that opens the IPC handle of one
    ///     can reach the others.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an object has no bytes.
    /// ValueError
    ///     If there are more objects.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> one, two = ctx.buffers_from_data([b"one", b"two"])
    /// >>> one.to_pybytes(), two.to_pybytes()
    /// (b'one', b'two')
    fn buffers_from_data<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let copy = || together::copies_of(&self.context, data);
        let facts = |_: &_| Facts { device: Some(self.device_number()), nbytes: None };
        traced(data.py(), Area::Transfer, "Context.buffers_from_data", copy, facts)
    }

    /// View the memory of an object that the device can access as a device buffer.
    ///
    /// Parameters
    /// ----------
    /// obj : CudaBuffer, HostBuffer, Buffer or object
    ///     A buffer, or an object with the CUDA array interface
    ///     (``__cuda_array_interface__``).  The call waits for work on the stream
    ///     that the interface names.  The result is immutable if the interface says
    ///     that the memory is read-only.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     A view that retains `obj`.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowTypeError
    ///     If the object has no device memory.
    /// ValueError
    ///     If its interface is malformed, masked, or not contiguous.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> ctx = cuda.Context(0)
    /// >>> pinned = cuda.new_host_buffer(4)
    /// >>> view = ctx.buffer_from_object(pinned)
    /// >>> view.copy_from_host(b"both")
    /// 4
    /// >>> pinned.to_pybytes()
    /// b'both'
    fn buffer_from_object<'py>(&self, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        views::of_object(&self.context, obj)
    }
}

impl PyContext {
    fn copy_of(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offset: i64,
        size: i64,
    ) -> PyResult<DeviceBuffer> {
        let data = Data::of(data)?;
        let available = match &data {
            Data::Host(data) => data.bytes()?.len() as u64,
            Data::Device(data) => device_buffer(data)?.size(),
        };
        let offset = u64::try_from(offset).map_err(|_| out_of_range("offset"))?;
        if offset > available || (offset == available && available > 0) {
            return Err(out_of_range("offset"));
        }
        let size = u64::try_from(size).unwrap_or(available - offset);
        if size > available - offset {
            return Err(PyValueError::new_err(
                "requested larger slice than available in device buffer",
            ));
        }
        let buffer = self.allocate(py, size)?;
        match data {
            Data::Host(data) => {
                copy_for_signals(py, &self.context, || {
                    // Another thread may have resized it meanwhile.
                    let bytes = data
                        .bytes()?
                        .get(offset as usize..(offset + size) as usize)
                        .ok_or_else(|| out_of_range("size"))?;
                    py.detach(|| buffer.copy_from_host(0, bytes)).or_raise(py)
                })?;
            }
            Data::Device(data) => {
                let source = device_buffer(&data)?.slice(offset, size).or_raise(py)?;
                copy_for_signals(py, source.context(), || {
                    py.detach(|| buffer.copy_from_device(0, &source)).or_raise(py)
                })?;
            }
        }
        Ok(buffer)
    }

    fn facts(&self, nbytes: u64) -> Facts {
        Facts::new(nbytes, self.context.device().number())
    }

    fn allocate(&self, py: Python<'_>, size: u64) -> PyResult<DeviceBuffer> {
        py.detach(|| DeviceBuffer::allocate(&self.context, size))
            .or_raise_explained(py, available(py, &self.context))
    }
}

/// What to do instead, where the driver refuses to map memory that this process has exported.
fn own_memory(error: &CallError) -> Option<String> {
    let is_refused = (error.function, error.code) == ("cuIpcOpenMemHandle", codes::INVALID_CONTEXT);
    is_refused.then(|| {
        "the process that exported memory cannot open its handle: use the exported buffer \
         itself, or open the handle in another process"
            .to_owned()
    })
}

/// The `pyarrow.MemoryManager` of a context's device.
pub(crate) fn memory_manager<'py>(
    py: Python<'py>,
    context: &Context,
) -> PyResult<Bound<'py, PyAny>> {
    let empty = DeviceBuffer::allocate(context, 0).or_raise(py)?;
    wrap_buffer(py, empty)?.getattr("memory_manager")
}
