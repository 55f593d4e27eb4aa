//! `Context`.

use crate::array_interface;
use crate::classes::classes;
use crate::convert::{
    as_buffer, cuda_buffer_argument, device_buffer, host_bytes, is_cuda_buffer, span, wrap_buffer,
    wrap_memory_of,
};
use crate::errors::{OrRaise, expected, non_negative, out_of_range, pyarrow_exception};
use crate::ipc_handle::PyIpcMemHandle;
use crate::lifecycle::Owner;
use crate::pyarrow::pyarrow;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Device};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A CUDA driver context.
///
/// Parameters
/// ----------
/// device_number : int, default 0
///     The GPU to work on.
/// handle : int, optional
///     The ``CUcontext`` handle of a context that another library has made.
///     It is borrowed: never destroyed here, and checked before each use.
///     By default the device's primary context is used, which all libraries
///     of a process share.
///
/// Raises
/// ------
/// ValueError
///     If there is no such device.
/// OSError
///     If there is no CUDA driver, or the handle is no context of the device.
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

    /// Return the number of GPU devices.
    ///
    /// Returns
    /// -------
    /// int
    #[staticmethod]
    fn get_num_devices(py: Python<'_>) -> PyResult<u32> {
        py.detach(Device::count).or_raise(py)
    }

    /// The number of the context's device.
    #[getter]
    fn device_number(&self) -> u32 {
        self.context.device().number()
    }

    /// The ``CUcontext`` handle, as an integer.
    #[getter]
    fn handle(&self) -> usize {
        self.context.handle()
    }

    /// Block until the device has done everything that was queued in the context.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.context.synchronize()).or_raise(py)
    }

    /// The number of bytes that are allocated in the context by this process.
    ///
    /// Counts what was asked for, from allocation to release.  Slices, foreign
    /// memory and memory of other processes do not count.
    #[getter]
    fn bytes_allocated(&self) -> i64 {
        self.context.bytes_allocated()
    }

    /// Return the address at which the device reaches some memory.
    ///
    /// Parameters
    /// ----------
    /// address : int
    ///     An address of device memory, or of host memory that is mapped for
    ///     the device: page-locked or managed.
    ///
    /// Returns
    /// -------
    /// device_address : int
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the driver does not know the memory.
    fn get_device_address(&self, py: Python<'_>, address: u64) -> PyResult<u64> {
        py.detach(|| arrow_cuda_buffer::device_address(&self.context, address)).or_raise(py)
    }

    /// Allocate device memory, uninitialised.
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
    /// OSError
    ///     If the device has no room.
    pub(crate) fn new_buffer<'py>(
        &self,
        py: Python<'py>,
        nbytes: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = non_negative("nbytes", nbytes)?;
        wrap_buffer(py, self.allocate(py, size)?)
    }

    /// The memory manager of the context's device.
    ///
    /// Returns
    /// -------
    /// pyarrow.MemoryManager
    #[getter]
    fn memory_manager<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.new_buffer(py, 0)?.getattr("memory_manager")
    }

    /// The context's device.
    ///
    /// Returns
    /// -------
    /// pyarrow.Device
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.new_buffer(py, 0)?.getattr("device")
    }

    /// View memory that somebody else owns as a device buffer.
    ///
    /// Parameters
    /// ----------
    /// address : int
    ///     Where the memory begins: device memory, or host memory that is
    ///     mapped for the device.
    /// size : int
    ///     The number of bytes.
    /// base : object, optional
    ///     Whatever keeps the memory valid.  It is kept as long as any buffer
    ///     over the memory: slices, readers and arrays included.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Does not own the memory.  When address and size are 0, a new buffer
    ///     of no bytes.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the driver does not know the memory.
    /// ValueError
    ///     If the memory ends before `size` bytes, or lies on another device.
    #[pyo3(signature = (address, size, base=None))]
    fn foreign_buffer<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: i64,
        base: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if size == 0 && !address.is_truthy()? {
            return self.new_buffer(py, 0);
        }
        let size = non_negative("size", size)?;
        self.view(py, address.extract()?, size, true, base)
    }

    /// Map device memory that another process has exported.
    ///
    /// Parameters
    /// ----------
    /// ipc_handle : IpcMemHandle
    ///
    /// Returns
    /// -------
    /// buf : CudaBuffer
    ///     Shares the memory.  It is unmapped with the last buffer over it.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the memory is gone, or was exported by this very process.
    /// ValueError
    ///     If the handle names more than there is.
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
        let buffer = py.detach(|| arrow_cuda_ipc::open(&self.context, handle)).or_raise(py)?;
        wrap_buffer(py, buffer)
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
    ///     How many bytes to copy; all from `offset` on by default.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Owns the copy.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `data` does not have that many bytes.
    /// OSError
    ///     If the device has no room.
    #[pyo3(signature = (data, offset=0, size=-1))]
    fn buffer_from_data<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        offset: i64,
        size: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let data = as_buffer(data)?;
        let span = span(&data).ok_or_else(|| expected("Buffer", &data))?;
        if offset < 0 || (span.size > 0 && offset >= span.size) || offset > span.size {
            return Err(out_of_range("offset"));
        }
        let size = if size < 0 { span.size - offset } else { size };
        if size > span.size - offset {
            return Err(PyValueError::new_err(
                "requested larger slice than available in device buffer",
            ));
        }
        let (offset, size) = (non_negative("offset", offset)?, non_negative("size", size)?);
        let buffer = self.allocate(py, size)?;
        if span.is_cpu {
            // Another thread may have resized it meanwhile.
            let bytes = host_bytes(&data)?
                .get(offset as usize..(offset + size) as usize)
                .ok_or_else(|| out_of_range("size"))?;
            py.detach(|| buffer.copy_from_host(0, bytes)).or_raise(py)?;
        } else {
            let source = if is_cuda_buffer(&data)? { data } else { wrap_memory_of(&data)? };
            let source = device_buffer(&source)?.slice(offset, size).or_raise(py)?;
            py.detach(|| buffer.copy_from_device(0, &source)).or_raise(py)?;
        }
        wrap_buffer(py, buffer)
    }

    /// View the memory of an object that the device can reach as a device buffer.
    ///
    /// Parameters
    /// ----------
    /// obj : CudaBuffer, HostBuffer, Buffer or object
    ///     A buffer, or anything with the CUDA array interface
    ///     (``__cuda_array_interface__``).  Work that the interface names as
    ///     pending is waited for, and memory that it calls read-only is not
    ///     mutable through the result.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     A view that keeps `obj`.
    ///
    /// Raises
    /// ------
    /// pyarrow.ArrowTypeError
    ///     If the object has no device memory.
    /// ValueError
    ///     If its interface is malformed, masked, or not contiguous.
    fn buffer_from_object<'py>(
        slf: &Bound<'py, Self>,
        obj: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        if obj.is_instance(classes(py)?.host_buffer.bind(py))? {
            let span = span(obj).ok_or_else(|| expected("HostBuffer", obj))?;
            if span.size == 0 {
                return this.new_buffer(py, 0);
            }
            let size = non_negative("size", span.size)?;
            return this.view(py, span.address, size, span.is_mutable, Some(obj.clone().unbind()));
        }
        if is_cuda_buffer(obj)? {
            cuda_buffer_argument(obj)?;
            return Ok(obj.clone());
        }
        if obj.is_instance(pyarrow(py)?.buffer.bind(py))? {
            return wrap_memory_of(obj);
        }
        if let Some(array) = array_interface::describe(obj)? {
            if array.size == 0 {
                return this.new_buffer(py, 0);
            }
            if let Some(stream) = array.stream {
                py.detach(|| {
                    // SAFETY: the interface promises a live stream.
                    unsafe { this.context.synchronize_stream(stream as *mut _) }
                })
                .or_raise(py)?;
            }
            let base = Some(obj.clone().unbind());
            return this.view(py, array.address, array.size, !array.is_read_only, base);
        }
        Err(pyarrow_exception(
            py,
            "ArrowTypeError",
            format!("cannot create device buffer view from `{}` object", obj.get_type().str()?),
        ))
    }
}

impl PyContext {
    fn allocate(&self, py: Python<'_>, size: u64) -> PyResult<DeviceBuffer> {
        py.detach(|| DeviceBuffer::allocate(&self.context, size)).or_raise(py)
    }

    fn view<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        size: u64,
        is_mutable: bool,
        base: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let address = self.get_device_address(py, address)?;
        let owner = Box::new(base.map(Owner::new));
        // With the GIL: look-ups do not block, and a refused owner has to go at once.
        let buffer =
            DeviceBuffer::view(&self.context, address, size, is_mutable, owner).or_raise(py)?;
        wrap_buffer(py, buffer)
    }
}

/// The context behind an argument that has to be one.
pub(crate) fn context_argument<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a PyContext> {
    let context = object.cast::<PyContext>().map_err(|_| expected("Context", object))?;
    Ok(context.get())
}
