//! Converts Rust values to pyarrow's objects.

use crate::errors::{OrRaise, expected};
use crate::interpreter;
use crate::pyarrow::classes::classes;
use crate::pyarrow::cython_subclass::{check_bases, new_instance};
use crate::pyarrow::from_pyarrow::span;
use crate::pyarrow::pyarrow;
use arrow_cuda_bridge::{Bridge, Fault, Object};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::HostBuffer;
use arrow_cuda_ipc::DeviceMessage;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A `CudaBuffer` object over a buffer.
pub(crate) fn wrap_buffer(py: Python<'_>, buffer: DeviceBuffer) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: a new object of a pyarrow.Buffer subtype, and the GIL is held.
    cuda_buffer(py, |bridge, object| unsafe { bridge.init_buffer(object, buffer) })
}

/// A `CudaBuffer` object over part of another's memory.
pub(crate) fn wrap_slice<'py>(
    parent: &Bound<'py, PyAny>,
    part: DeviceBuffer,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = parent.as_ptr().cast();
    // SAFETY: as above, and the parent is live.
    cuda_buffer(parent.py(), |bridge, object| unsafe { bridge.init_slice(object, whole, part) })
}

/// A `CudaBuffer` object over the device memory behind any `pyarrow.Buffer`.
pub(crate) fn wrap_memory_of<'py>(buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    span(buffer).ok_or_else(|| expected("Buffer", buffer))?;
    let generic = buffer.as_ptr().cast();
    // SAFETY: as above, and the other buffer is live.
    cuda_buffer(buffer.py(), |bridge, object| unsafe { bridge.init_from_buffer(object, generic) })
}

fn cuda_buffer(
    py: Python<'_>,
    init: impl FnOnce(&Bridge, Object) -> Result<(), Fault>,
) -> PyResult<Bound<'_, PyAny>> {
    wrapped(classes(py)?.cuda_buffer.bind(py), &pyarrow(py)?.buffer, init)
}

/// A `HostBuffer` object over pinned memory.
pub(crate) fn wrap_host_buffer(py: Python<'_>, buffer: HostBuffer) -> PyResult<Bound<'_, PyAny>> {
    let class = classes(py)?.host_buffer.bind(py);
    // SAFETY: a new object of a pyarrow.Buffer subtype, and the GIL is held.
    let init = |bridge: &Bridge, object| unsafe { bridge.init_host_buffer(object, buffer) };
    wrapped(class, &pyarrow(py)?.buffer, init)
}

/// A `HostBuffer` object over part of another's memory.
pub(crate) fn wrap_host_slice<'py>(
    whole: &Bound<'py, PyAny>,
    offset: i64,
    size: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, parent) = (whole.py(), whole.as_ptr().cast());
    wrapped(classes(py)?.host_buffer.bind(py), &pyarrow(py)?.buffer, |bridge, object| {
        // SAFETY: as above, and the parent is live.
        unsafe { bridge.init_host_slice(object, parent, offset, size) }
    })
}

/// A `PinnedMemoryPool` object of that class, over a pool.
pub(crate) fn wrap_pool<'py>(
    class: &Bound<'py, PyType>,
    pool: &'static HostPool,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a new object of a pyarrow.MemoryPool subtype, and the GIL is held.
    let init = |bridge: &Bridge, object| unsafe { bridge.init_pool(object, pool) };
    wrapped(class, &pyarrow(class.py())?.memory_pool, init)
}

/// A new object of a class that extends the class `base` of pyarrow, initialised by the bridge.
fn wrapped<'py>(
    class: &Bound<'py, PyType>,
    base: &Py<PyType>,
    init: impl FnOnce(&Bridge, Object) -> Result<(), Fault>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let object = new_instance(class, base.bind(py))?;
    init(&pyarrow(py)?.bridge, object.as_ptr().cast()).or_raise(py)?;
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
    check_bases(class, ours.bind(py), pyarrow.native_file.bind(py))?;
    let buffer = buffer.as_ptr().cast();
    // SAFETY: a new object of a pyarrow.NativeFile subtype, and the GIL is held.
    let object = wrapped(class, &pyarrow.native_file, |bridge, object| unsafe {
        match for_writing {
            true => bridge.init_writer(object, buffer),
            false => bridge.init_reader(object, buffer),
        }
    })?;
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

/// Runs pyarrow's own code over a `BufferReader` that gets the message at `position` in advance.
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
