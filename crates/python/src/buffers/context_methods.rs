//! The methods of `Context` that make buffers of memory and data that exist.

use crate::bounded_sequences::objects;
use crate::contexts::context::PyContext;
use crate::copies::source::Data;
use crate::errors::{OrRaise, expected, non_negative, out_of_range};
use crate::exchange::foreign_memory;
use crate::files::check_progress;
use crate::interpreter::call_out;
use crate::ipc::handle::PyIpcMemHandle;
use crate::package::package;
use crate::pyarrow::from_pyarrow::device_buffer;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use crate::signals::copy_for_signals;
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Pending;
use arrow_cuda_driver::{CallError, codes};
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
            let buffer = py
                .detach(|| arrow_cuda_ipc::open(self.context(), handle))
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
                    copy_for_signals(py, self.context(), || {
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
        };
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
    ///     If `path` is not one of these: the bytes of other objects need not be those of
    ///     their descriptors.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    /// ImportError
    ///     If `kvikio` is True, and it is not installed.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
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

    /// Read an Arrow file or stream, compressed or not, into a table on the device.
    ///
    /// Several threads read a file and decompress it, straight into pinned memory, so its
    /// columns are written once on the host.
    ///
    /// Parameters
    /// ----------
    /// source : str, os.PathLike, int, file, Buffer, CudaBuffer or bytes-like
    ///     A path, the descriptor of an open file, a binary file, or the bytes of one.  All
    ///     of an open file is read, wherever its position is, if it has a size.  The bytes of
    ///     pipes and of a CudaBuffer, and what other objects' ``read`` returns, are brought to
    ///     host memory first.
    /// columns : iterable of str, optional
    ///     The names of the columns to read, in the order of the table; by default all.
    /// progress : callable, optional
    ///     Is called on this thread as ``progress(done, total)``, numbers of bytes on the
    ///     device: now and then, and at the end.  If it raises, nothing more is read, and the
    ///     exception goes on to the caller.
    ///
    /// Returns
    /// -------
    /// table : pyarrow.Table
    ///     With a chunk for each record batch.  All columns share an allocation.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be opened, read or decompressed; if it becomes shorter
    ///     meanwhile.
    /// ArrowInvalid
    ///     If the file is damaged, or not an Arrow file or stream.
    /// KeyError
    ///     If no column, or more than one, has a name of `columns`.
    /// TypeError
    ///     If `source` or `columns` is not one of these.
    /// OutOfMemoryError
    ///     If the device has too little free memory: an OSError and a MemoryError.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile, pyarrow.feather
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     path = f"{folder}/columns.arrow"
    /// ...     pyarrow.feather.write_feather(pa.table({"x": [1, 2], "y": ["a", "b"]}), path)
    /// ...     table = ctx.table_from_file(path, columns=["y"])
    /// >>> table.copy_to(pa.default_cpu_memory_manager())["y"].to_pylist()
    /// ['a', 'b']
    #[pyo3(signature = (source, *, columns=None, progress=None))]
    fn table_from_file<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_progress(progress)?;
        let py = slf.py();
        let read = || {
            let read = package(py)?.table_from_file.bind(py);
            call_out(read, (slf, source, columns, progress))
        };
        let facts = |_: &_| Facts { nbytes: None, device: Some(slf.get().device_number()) };
        traced(py, Area::Transfer, "Context.table_from_file", read, facts)
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
                let host = DeviceBuffer::adjacent_from_host(context, &host)?;
                Ok::<_, BufferError>((host, DeviceBuffer::adjacent_copies(context, &device)?))
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

/// What to do instead, where the driver refuses to map memory that this process has exported.
fn own_memory(error: &CallError) -> Option<String> {
    let is_refused = (error.function, error.code) == ("cuIpcOpenMemHandle", codes::INVALID_CONTEXT);
    is_refused.then(|| {
        "the process that exported memory cannot open its handle: use the exported buffer \
         itself, or open the handle in another process"
            .to_owned()
    })
}
