//! Converts Rust values to pyarrow's objects.

use crate::errors::{OrRaise, expected, extended, incorrect_type};
use crate::interpreter;
use crate::pyarrow::classes::classes;
use crate::pyarrow::cython_subclass::{check_bases, new_instance};
use crate::pyarrow::from_pyarrow::{is_cuda_buffer, object_ref, span};
use crate::pyarrow::pyarrow;
use arrow_cuda_bridge::{Bridge, Contents, Fault, Object, ObjectRef};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::HostBuffer;
use arrow_cuda_ipc::DeviceMessage;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A `CudaBuffer` object over a buffer.
pub(crate) fn wrap_buffer(py: Python<'_>, buffer: DeviceBuffer) -> PyResult<Bound<'_, PyAny>> {
    cuda_buffer(py, Contents::Buffer(buffer))
}

/// A `CudaBuffer` object over part of another's memory.
pub(crate) fn wrap_slice<'py>(
    parent: &Bound<'py, PyAny>,
    part: DeviceBuffer,
) -> PyResult<Bound<'py, PyAny>> {
    cuda_buffer(parent.py(), Contents::Slice(object_ref(parent), part))
}

/// A `CudaBuffer` object over the device memory behind any `pyarrow.Buffer`.
pub(crate) fn wrap_memory_of<'py>(buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let span = span(buffer).ok_or_else(|| expected("Buffer", buffer))?;
    let py = buffer.py();
    cuda_buffer(py, Contents::MemoryOf(object_ref(buffer))).map_err(|error| match span.is_cpu {
        true => extended(py, &error, "Context.buffer_from_data copies host memory to a device"),
        false => error,
    })
}

fn cuda_buffer<'py>(py: Python<'py>, contents: Contents<'_>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class extends pyarrow's Buffer, for which the contents are.
    unsafe { filled(classes(py)?.cuda_buffer.bind(py), &pyarrow(py)?.lib.buffer, contents) }
}

/// A `HostBuffer` object over pinned memory.
pub(crate) fn wrap_host_buffer(py: Python<'_>, buffer: HostBuffer) -> PyResult<Bound<'_, PyAny>> {
    host_buffer(py, Contents::HostBuffer(buffer))
}

/// A `HostBuffer` object over part of another's memory.
pub(crate) fn wrap_host_slice<'py>(
    whole: &Bound<'py, PyAny>,
    offset: i64,
    size: i64,
) -> PyResult<Bound<'py, PyAny>> {
    host_buffer(whole.py(), Contents::HostSlice(object_ref(whole), offset, size))
}

fn host_buffer<'py>(py: Python<'py>, contents: Contents<'_>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class extends pyarrow's Buffer, for which the contents are.
    unsafe { filled(classes(py)?.host_buffer.bind(py), &pyarrow(py)?.lib.buffer, contents) }
}

/// A `PinnedMemoryPool` object of that class, over a pool.
pub(crate) fn wrap_pool<'py>(
    class: &Bound<'py, PyType>,
    pool: &'static HostPool,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class extends pyarrow's MemoryPool.
    unsafe { filled(class, &pyarrow(class.py())?.lib.memory_pool, Contents::Pool(pool)) }
}

/// A new object of a class that extends the class `base` of pyarrow, filled by the bridge.
///
/// # Safety
///
/// The contents must be for that base.
unsafe fn filled<'py>(
    class: &Bound<'py, PyType>,
    base: &Py<PyType>,
    contents: Contents<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let object = new_instance(class, base.bind(py))?;
    // SAFETY: a new object of the class; the caller guarantees the rest.
    unsafe { pyarrow(py)?.bridge.init(object_ref(&object), contents) }.or_raise(py)?;
    Ok(object)
}

/// A `BufferReader` or `BufferWriter` object over the `CudaBuffer` that an argument has to be.
pub(crate) fn open_file<'py>(
    class: &Bound<'py, PyType>,
    buffer: &Bound<'py, PyAny>,
    argument: &str,
    for_writing: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !is_cuda_buffer(buffer)? {
        return Err(incorrect_type(argument, "pyarrow._cuda.CudaBuffer", buffer));
    }
    let py = class.py();
    let pyarrow = pyarrow(py)?;
    let classes = classes(py)?;
    let ours = if for_writing { &classes.buffer_writer } else { &classes.buffer_reader };
    check_bases(class, ours.bind(py), pyarrow.lib.native_file.bind(py))?;
    let buffer = object_ref(buffer);
    let contents = if for_writing { Contents::Writer(buffer) } else { Contents::Reader(buffer) };
    // SAFETY: the class extends pyarrow's NativeFile.
    let object = unsafe { filled(class, &pyarrow.lib.native_file, contents)? };
    if for_writing {
        interpreter::remember_writer(&object)?;
    }
    Ok(object)
}

/// The object that the bridge makes.
pub(crate) fn made<'py>(
    py: Python<'py>,
    make: impl FnOnce(&Bridge) -> Result<Object, Fault>,
) -> PyResult<Bound<'py, PyAny>> {
    let object = make(&pyarrow(py)?.bridge).or_raise(py)?;
    // SAFETY: a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, object.cast()) }
}

/// The object that the bridge makes in place of another one, if it makes any; else that one.
pub(crate) fn replaced<'py>(
    object: Bound<'py, PyAny>,
    replace: impl FnOnce(&Bridge, ObjectRef<'_>) -> Result<Option<Object>, Fault>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match replace(&pyarrow(py)?.bridge, object_ref(&object)).or_raise(py)? {
        Some(made) => self::made(py, |_| Ok(made)),
        None => Ok(object),
    }
}

/// A new `pyarrow.Buffer` of that size on the host, uninitialised.
pub(crate) fn allocate_host<'py>(py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyAny>> {
    let size = i64::try_from(size).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the GIL is held.
    made(py, |bridge| unsafe { bridge.allocate_host(size) })
}

/// The record batch of a message that lies in a `CudaBuffer`, once its buffers were found long
/// enough.  `memo` is a `pyarrow.DictionaryMemo`.
pub(crate) fn batch_in<'py>(
    buffer: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    memo: Option<&Bound<'py, PyAny>>,
    message: DeviceMessage,
) -> PyResult<Bound<'py, PyAny>> {
    made(buffer.py(), |bridge| {
        // SAFETY: the memo is of its class.
        unsafe {
            bridge.read_batch(object_ref(buffer), object_ref(schema), memo.map(object_ref), message)
        }
    })
}

/// Runs pyarrow's own code over a `BufferReader` that gets the message at `position` in advance.
pub(crate) fn with_message<'py>(
    reader: &Bound<'py, PyAny>,
    position: u64,
    message: &DeviceMessage,
    read: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = reader.py();
    // SAFETY: a pyarrow.NativeFile, by its class.
    unsafe { pyarrow(py)?.bridge.with_message(object_ref(reader), position, message, read) }
        .or_raise(py)?
}
