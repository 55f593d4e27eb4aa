//! Converts Rust values to pyarrow's objects.

use crate::errors::{OrRaise, expected};
use crate::interpreter;
use crate::pyarrow::classes::classes;
use crate::pyarrow::from_pyarrow::span;
use crate::pyarrow::{graft, pyarrow};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::HostBuffer;
use arrow_cuda_ipc::DeviceMessage;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A `CudaBuffer` object over a buffer.
pub(crate) fn wrap_buffer(py: Python<'_>, buffer: DeviceBuffer) -> PyResult<Bound<'_, PyAny>> {
    let pyarrow = pyarrow(py)?;
    let object = graft::fresh(classes(py)?.cuda_buffer.bind(py), pyarrow.buffer.bind(py))?;
    // SAFETY: a fresh object of a pyarrow.Buffer subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_buffer(object.as_ptr().cast(), buffer) }.or_raise(py)?;
    Ok(object)
}

/// A `CudaBuffer` object over part of another's memory.
pub(crate) fn wrap_slice<'py>(
    parent: &Bound<'py, PyAny>,
    part: DeviceBuffer,
) -> PyResult<Bound<'py, PyAny>> {
    let py = parent.py();
    let pyarrow = pyarrow(py)?;
    let object = graft::fresh(classes(py)?.cuda_buffer.bind(py), pyarrow.buffer.bind(py))?;
    // SAFETY: a fresh object of a pyarrow.Buffer subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_slice(object.as_ptr().cast(), parent.as_ptr().cast(), part) }
        .or_raise(py)?;
    Ok(object)
}

/// A `CudaBuffer` object over the device memory behind any `pyarrow.Buffer`.
pub(crate) fn wrap_memory_of<'py>(buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let pyarrow = pyarrow(py)?;
    span(buffer).ok_or_else(|| expected("Buffer", buffer))?;
    let object = graft::fresh(classes(py)?.cuda_buffer.bind(py), pyarrow.buffer.bind(py))?;
    // SAFETY: a fresh object of a pyarrow.Buffer subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_from_buffer(object.as_ptr().cast(), buffer.as_ptr().cast()) }
        .or_raise(py)?;
    Ok(object)
}

/// A `HostBuffer` object over pinned memory.
pub(crate) fn wrap_host_buffer(py: Python<'_>, buffer: HostBuffer) -> PyResult<Bound<'_, PyAny>> {
    let pyarrow = pyarrow(py)?;
    let object = graft::fresh(classes(py)?.host_buffer.bind(py), pyarrow.buffer.bind(py))?;
    // SAFETY: a fresh object of a pyarrow.Buffer subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_host_buffer(object.as_ptr().cast(), buffer) }.or_raise(py)?;
    Ok(object)
}

/// A `HostBuffer` object over part of another's memory.
pub(crate) fn wrap_host_slice<'py>(
    whole: &Bound<'py, PyAny>,
    offset: i64,
    size: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = whole.py();
    let pyarrow = pyarrow(py)?;
    let object = graft::fresh(classes(py)?.host_buffer.bind(py), pyarrow.buffer.bind(py))?;
    let (fresh, whole) = (object.as_ptr().cast(), whole.as_ptr().cast());
    // SAFETY: a fresh object of a pyarrow.Buffer subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_host_slice(fresh, whole, offset, size) }.or_raise(py)?;
    Ok(object)
}

/// A `PinnedMemoryPool` object of that class, over a pool.
pub(crate) fn wrap_pool<'py>(
    class: &Bound<'py, PyType>,
    pool: &'static HostPool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let pyarrow = pyarrow(py)?;
    let object = graft::fresh(class, pyarrow.memory_pool.bind(py))?;
    // SAFETY: a fresh object of a pyarrow.MemoryPool subtype, and the GIL is held.
    unsafe { pyarrow.bridge.init_pool(object.as_ptr().cast(), pool) }.or_raise(py)?;
    Ok(object)
}

/// A `BufferReader` or `BufferWriter` object over a `CudaBuffer`.
pub(crate) fn open_file<'py>(
    class: &Bound<'py, PyType>,
    buffer: &Bound<'py, PyAny>,
    for_writing: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let pyarrow = pyarrow(py)?;
    let classes = classes(py)?;
    let ours = if for_writing { &classes.buffer_writer } else { &classes.buffer_reader };
    let native_file = pyarrow.native_file.bind(py);
    graft::check_bases(class, ours.bind(py), native_file)?;
    let object = graft::fresh(class, native_file)?;
    let (fresh, buffer) = (object.as_ptr().cast(), buffer.as_ptr().cast());
    // SAFETY: a fresh object of a pyarrow.NativeFile subtype, and the GIL is held.
    let opened = unsafe {
        if for_writing {
            pyarrow.bridge.init_writer(fresh, buffer)
        } else {
            pyarrow.bridge.init_reader(fresh, buffer)
        }
    };
    opened.or_raise(py)?;
    if for_writing {
        interpreter::remember_writer(&object)?;
    }
    Ok(object)
}

/// A new `pyarrow.Buffer` of that size on the host, uninitialised.
pub(crate) fn allocate_host<'py>(py: Python<'py>, size: u64) -> PyResult<Bound<'py, PyAny>> {
    let size = i64::try_from(size).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the GIL is held; the result is a new reference.
    unsafe {
        let buffer = pyarrow(py)?.bridge.allocate_host(size).or_raise(py)?;
        Bound::from_owned_ptr_or_err(py, buffer.cast())
    }
}

/// The record batch of a message that lies in a `CudaBuffer`, once its buffers were found long
/// enough.  `memo` is a `pyarrow.DictionaryMemo`.
pub(crate) fn batch_in<'py>(
    buffer: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    memo: Option<&Bound<'py, PyAny>>,
    message: DeviceMessage,
) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let memo = memo.map(|memo| memo.as_ptr().cast());
    let (buffer, schema) = (buffer.as_ptr().cast(), schema.as_ptr().cast());
    // SAFETY: live objects of their classes, and the GIL is held; the result is a new reference.
    unsafe {
        let batch = pyarrow(py)?.bridge.read_batch(buffer, schema, memo, message).or_raise(py)?;
        Bound::from_owned_ptr_or_err(py, batch.cast())
    }
}

/// Runs pyarrow's own code over a `BufferReader` that is told which message it finds at `position`.
pub(crate) fn with_message<'py>(
    reader: &Bound<'py, PyAny>,
    position: u64,
    message: &DeviceMessage,
    read: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, object) = (reader.py(), reader.as_ptr().cast());
    let bridge = &pyarrow(py)?.bridge;
    // SAFETY: a live object, and the GIL is held.
    unsafe { bridge.expect_message(object, position, message) }.or_raise(py)?;
    let read = read();
    // SAFETY: as above.
    unsafe { bridge.forget_message(object) }.or_raise(py)?;
    read
}

/// An array without its data: an empty host buffer in place of each buffer that is not plain host
/// memory, which is the empty one's parent.
pub(crate) fn skeleton<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    // SAFETY: a live object, and the GIL is held; the result is a new reference.
    unsafe {
        let skeleton = pyarrow(py)?.bridge.skeleton_of(array.as_ptr().cast()).or_raise(py)?;
        Bound::from_owned_ptr_or_err(py, skeleton.cast())
    }
}

/// A record batch of arrays, or a table of chunked arrays, which libarrow does not validate.
pub(crate) fn assembled<'py>(
    schema: &Bound<'py, PyAny>,
    columns: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let py = schema.py();
    let pointers: Vec<_> = columns.iter().map(|column| column.as_ptr().cast()).collect();
    // SAFETY: live objects, and the GIL is held; the result is a new reference.
    unsafe {
        let made = pyarrow(py)?.bridge.assemble(schema.as_ptr().cast(), &pointers).or_raise(py)?;
        Bound::from_owned_ptr_or_err(py, made.cast())
    }
}
