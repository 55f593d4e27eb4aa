//! The methods of `Context` that make buffers of memory and data that exist.

use crate::bounded_sequences::objects;
use crate::contexts::context::PyContext;
use crate::copies::source::Data;
use crate::errors::{OrRaise, expected, non_negative, out_of_range};
use crate::exchange::foreign_memory;
use crate::ipc::handle::PyIpcMemHandle;
use crate::pyarrow::from_pyarrow::device_buffer;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use crate::signals::copy_for_signals;
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Pending;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

#[pymethods]
impl PyContext {
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
    ///     buffer.  Copies come after the work of the default stream; order other
    ///     work on the memory yourself.
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
        if size == 0 && !address.is_truthy()? {
            return foreign_memory::empty(py, self.context());
        }
        let size = non_negative("size", size)?;
        let address = address.extract()?;
        // Who names an address says nothing of the work there.
        let arrival = self.context().take_over(&Pending::DefaultStream).or_raise(py)?;
        let place = (address, size, true);
        wrap_buffer(py, foreign_memory::view(py, self.context(), place, arrival, base)?)
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
        let handle = ipc_handle.cast::<PyIpcMemHandle>();
        let handle = &handle.map_err(|_| expected("IpcMemHandle", ipc_handle))?.get().handle;
        let open = || {
            let buffer = py.detach(|| arrow_cuda_ipc::open(self.context(), handle)).or_raise(py)?;
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
    /// TypeError
    ///     If `data` holds Python objects: their addresses mean nothing on a device.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    ///
    /// Examples
    /// --------
    /// >>> ctx.buffer_from_data(b"0123456789", offset=2, size=4).to_pybytes()
    /// b'2345'
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
        let copy = || {
            let data = Data::of(data)?;
            let available = match &data {
                Data::Host(data) => data.bytes()?.len(),
                Data::Device(data) => device_buffer(data)?.len(),
            };
            let offset = usize::try_from(offset).map_err(|_| out_of_range("offset"))?;
            if offset > available || (offset == available && available > 0) {
                return Err(out_of_range("offset"));
            }
            let size = usize::try_from(size).unwrap_or(available - offset);
            if size > available - offset {
                return Err(PyValueError::new_err(
                    "requested larger slice than available in device buffer",
                ));
            }
            let buffer = self.allocate(py, size)?;
            match data {
                Data::Host(data) => {
                    copy_for_signals(py, self.context(), || {
                        // Another thread may have resized it meanwhile.
                        let bytes = data
                            .bytes()?
                            .get(offset..offset + size)
                            .ok_or_else(|| out_of_range("size"))?;
                        py.detach(|| buffer.copy_from_host(bytes)).or_raise(py)
                    })?;
                }
                Data::Device(data) => {
                    let source =
                        device_buffer(&data)?.slice_with_length(offset, size).or_raise(py)?;
                    copy_for_signals(py, source.context(), || {
                        py.detach(|| buffer.copy_from_device(&source)).or_raise(py)
                    })?;
                }
            }
            Ok(buffer)
        };
        let buffer = traced(py, Area::Transfer, "Context.buffer_from_data", copy, |copy| {
            self.facts(copy.len())
        })?;
        wrap_buffer(py, buffer)
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
    /// >>> one, two = ctx.buffers_from_data([b"one", b"two"])
    /// >>> one.to_pybytes(), two.to_pybytes()
    /// (b'one', b'two')
    fn buffers_from_data<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (py, context) = (data.py(), self.context());
        let copy = || {
            let objects = objects(data)?;
            let data = objects.iter().map(Data::of).collect::<PyResult<Vec<_>>>()?;
            let (mut host, mut device) = (Vec::new(), Vec::new());
            for data in &data {
                match data {
                    Data::Host(data) => host.push(data.bytes()?),
                    Data::Device(data) => device.push(device_buffer(data)?),
                }
            }
            let copies = py.detach(|| {
                let host = DeviceBuffer::suballocated_from_host(context, &host)?;
                Ok::<_, BufferError>((host, DeviceBuffer::suballocated_copies(context, &device)?))
            });
            let (host, device) = copies.or_raise(py)?;
            let (mut host, mut device) = (host.into_iter(), device.into_iter());
            let buffers = data.iter().map(|data| match data {
                Data::Host(_) => host.next(),
                Data::Device(_) => device.next(),
            });
            let wrapped = buffers.flatten().map(|buffer| wrap_buffer(py, buffer));
            PyList::new(py, wrapped.collect::<PyResult<Vec<_>>>()?)
        };
        let facts = |_: &_| Facts { device: Some(self.device_number()), nbytes: None };
        traced(py, Area::Transfer, "Context.buffers_from_data", copy, facts)
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
    /// >>> pinned = cuda.new_host_buffer(4)
    /// >>> view = ctx.buffer_from_object(pinned)
    /// >>> view.copy_from_host(b"both")
    /// 4
    /// >>> pinned.to_pybytes()
    /// b'both'
    fn buffer_from_object<'py>(&self, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        foreign_memory::of_object(self.context(), obj)
    }
}
