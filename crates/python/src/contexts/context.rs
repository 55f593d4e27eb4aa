//! The Python class `Context`.

use super::names::DeviceNumber;
use crate::errors::{ByteCount, OrRaise, non_negative};
use crate::pyarrow::to_pyarrow::wrap_buffer;
use crate::signals::wait_for_signals;
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Device, completed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

static IS_ANY_MADE: AtomicBool = AtomicBool::new(false);

/// A CUDA driver context.
///
/// Parameters
/// ----------
/// device_number : int or str, default 0
///     The GPU to work on: its number, or its name, such as ``"cuda:1"``.
/// handle : int, optional
///     The ``CUcontext`` handle of a context that another library created.
///     This package borrows the context: it checks the context before each use,
///     and never destroys it.  Without a handle, it uses the device's primary
///     context, which all libraries in a process share.
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
        IS_ANY_MADE.store(true, Ordering::Relaxed);
        Self { context }
    }

    /// Whether a program has asked for one: its objects may put data there while pyarrow reads them.
    pub(crate) fn is_any_made() -> bool {
        IS_ANY_MADE.load(Ordering::Relaxed)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
}

#[pymethods]
impl PyContext {
    #[new]
    #[pyo3(signature = (device_number=DeviceNumber(0), handle=0), text_signature = "(device_number=0, handle=0)")]
    fn construct(py: Python<'_>, device_number: DeviceNumber, handle: usize) -> PyResult<Self> {
        let count = py.detach(Device::count).or_raise(py)?;
        let Some(number) = u32::try_from(device_number.0).ok().filter(|number| *number < count)
        else {
            return Err(PyValueError::new_err(format!(
                "device_number argument must be non-negative less than {count}"
            )));
        };
        let context = py
            .detach(|| match handle {
                0 => Context::primary(number),
                // SAFETY: the program passes a context's handle, which is checked as far as drivers can, and keeps the
                // context as long as it is in use.
                handle => unsafe { Context::borrowed(number, handle) },
            })
            .or_raise(py)?;
        Ok(Self::new(context))
    }

    /// Contexts are equal if they are the same driver context.  A context that was destroyed equals
    /// no later one, even if the driver reuses its handle.
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
            self.device_number(),
            self.handle(),
            if self.context.is_primary() { "True" } else { "False" }
        )
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
    /// >>> cuda.Context(0).device_number
    /// 0
    #[getter]
    pub(crate) fn device_number(&self) -> u32 {
        self.context.device().number()
    }

    /// The ``CUcontext`` handle, as an integer.
    ///
    /// Examples
    /// --------
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
    /// memory, memory of other processes and memory of a user-defined allocator
    /// (`set_allocator`) do not count.
    ///
    /// Examples
    /// --------
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
    /// >>> buf = ctx.new_buffer(128)
    /// >>> buf.size, buf.is_cpu, buf.is_mutable
    /// (128, False, True)
    fn new_buffer<'py>(&self, py: Python<'py>, nbytes: ByteCount) -> PyResult<Bound<'py, PyAny>> {
        let nbytes = nbytes.0;
        let allocate = || {
            let size = non_negative("nbytes", nbytes)?;
            wrap_buffer(py, self.allocate(py, size)?)
        };
        let facts = |_: &_| self.facts(nbytes as usize);
        traced(py, Area::Allocation, "Context.new_buffer", allocate, facts)
    }

    /// The memory manager of the context's device.
    ///
    /// Examples
    /// --------
    /// >>> array = pa.array([1, 2, None]).copy_to(ctx)
    /// >>> array.device_type
    /// <DeviceAllocationType.CUDA: 2>
    #[getter]
    fn memory_manager<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        memory_manager(py, &self.context)
    }

    /// The context's device.
    ///
    /// Examples
    /// --------
    /// >>> ctx.device.device_id, ctx.device.is_cpu
    /// (0, False)
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.new_buffer(py, ByteCount(0))?.getattr("device")
    }
}

impl PyContext {
    /// For the records of calls.
    pub(crate) fn facts(&self, nbytes: usize) -> Facts {
        Facts::new(nbytes, self.device_number())
    }

    /// New device memory, or an exception that says how much is free.
    pub(crate) fn allocate(&self, py: Python<'_>, size: usize) -> PyResult<DeviceBuffer> {
        py.detach(|| DeviceBuffer::allocate(&self.context, size)).or_raise(py)
    }
}

/// The `pyarrow.MemoryManager` of a context's device.
pub(crate) fn memory_manager<'py>(
    py: Python<'py>,
    context: &Context,
) -> PyResult<Bound<'py, PyAny>> {
    let empty = DeviceBuffer::allocate(context, 0).or_raise(py)?;
    wrap_buffer(py, empty)?.getattr("memory_manager")
}
