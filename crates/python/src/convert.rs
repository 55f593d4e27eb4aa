//! Python objects to Rust's and back.  What `device_arrays.rs` does with arrays in structures of C
//! aside, the only place that looks into pyarrow's objects.

use crate::classes::classes;
use crate::errors::{OrRaise, expected, incorrect_type, not_initialised};
use crate::pyarrow::pyarrow;
use crate::{graft, lifecycle};
use arrow_cuda_bridge::{Payload, Span};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};
use arrow_cuda_ipc::DeviceMessage;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::mem::MaybeUninit;

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
        lifecycle::remember_writer(&object)?;
    }
    Ok(object)
}

/// The device buffer behind a `CudaBuffer` object, or any other that shows one exactly.
pub(crate) fn device_buffer<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a DeviceBuffer> {
    let py = object.py();
    // SAFETY: the object outlives the borrow, and the GIL is held.
    unsafe { pyarrow(py)?.bridge.buffer_of(object.as_ptr().cast()) }
        .ok_or_else(|| expected("CudaBuffer", object))
}

/// Whether the object is a `CudaBuffer`.
pub(crate) fn is_cuda_buffer(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(object, &classes(object.py())?.cuda_buffer))
}

/// Whether the object really is of the class.  `isinstance` also believes the object, for which it
/// has to look up an attribute.
fn is_of(object: &Bound<'_, PyAny>, class: &Py<PyType>) -> bool {
    // SAFETY: a live object and a live type, and the GIL is held.
    unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), class.as_ptr().cast()) != 0 }
}

/// The buffer behind an argument that has to be a `CudaBuffer`.
pub(crate) fn cuda_buffer_argument<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a DeviceBuffer> {
    if !is_cuda_buffer(object)? {
        return Err(expected("CudaBuffer", object));
    }
    device_buffer(object)
}

/// The reader behind a `BufferReader` object.
pub(crate) fn reader<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a BufferReader> {
    // SAFETY: a pyarrow.NativeFile, by its class, that outlives the borrow; the GIL is held.
    unsafe { pyarrow(object.py())?.bridge.reader_of(object.as_ptr().cast()) }
        .ok_or_else(|| expected("BufferReader", object))
}

/// The writer behind a `BufferWriter` object.
pub(crate) fn writer<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a BufferWriter> {
    // SAFETY: a pyarrow.NativeFile, by its class, that outlives the borrow; the GIL is held.
    unsafe { pyarrow(object.py())?.bridge.writer_of(object.as_ptr().cast()) }
        .ok_or_else(|| expected("BufferWriter", object))
}

/// Refuses a tensor of pyarrow's that `__new__` alone has made: asked for its bytes, it crashes.
pub(crate) fn check_tensor(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_of(object, &pyarrow(object.py())?.tensor) && object.getattr("type")?.is_none() {
        return Err(not_initialised(object));
    }
    Ok(())
}

/// Whether the object is a `pyarrow.Buffer`, initialised or not.
pub(crate) fn is_buffer(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(object, &pyarrow(object.py())?.buffer))
}

/// What a `pyarrow.Buffer` says of itself; none for other objects, and for those that were
/// never initialised.
pub(crate) fn span(object: &Bound<'_, PyAny>) -> Option<Span> {
    let pyarrow = pyarrow(object.py()).ok()?;
    if !is_of(object, &pyarrow.buffer) {
        return None;
    }
    // SAFETY: a pyarrow.Buffer, and the GIL is held.
    unsafe { pyarrow.bridge.span_of(object.as_ptr().cast()) }
}

/// A `pyarrow.Buffer` over whatever bytes an object has.
pub(crate) fn as_buffer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if span(object).is_some() {
        return Ok(object.clone());
    }
    let buffer = pyarrow(object.py())?.as_buffer.bind(object.py()).call1((object,))?;
    if span(&buffer).is_none() {
        return Err(expected("Buffer", object));
    }
    Ok(buffer)
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

/// The bytes of a `pyarrow.Buffer` on the host.  They are only ever copied from: others may
/// write to them meanwhile, as everywhere in Python.
pub(crate) fn host_bytes<'a>(buffer: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    bytes_of(buffer, host_span(buffer)?)
}

fn bytes_of<'a>(buffer: &'a Bound<'_, PyAny>, span: Span) -> PyResult<&'a [u8]> {
    let size = usize::try_from(span.size).map_err(|_| expected("Buffer", buffer))?;
    if size == 0 {
        return Ok(&[]);
    }
    // SAFETY: a host buffer's memory, which the object keeps; it is not empty, so not null.
    Ok(unsafe { std::slice::from_raw_parts(span.address as *const u8, size) })
}

/// The first `size` bytes of a `pyarrow.Buffer` on the host, to be written.
#[expect(clippy::mut_from_ref, reason = "the memory is the buffer's, not the reference's")]
pub(crate) fn host_bytes_mut<'a>(
    buffer: &'a Bound<'_, PyAny>,
    size: u64,
) -> PyResult<&'a mut [MaybeUninit<u8>]> {
    let span = host_span(buffer)?;
    let size = usize::try_from(size).map_err(|_| expected("Buffer", buffer))?;
    if size == 0 {
        return Ok(&mut []);
    }
    if !span.is_mutable {
        return Err(PyValueError::new_err("the host buffer is not mutable"));
    }
    debug_assert!(size as i64 <= span.size, "the caller checks what fits");
    // SAFETY: a mutable host buffer's memory, which the object keeps.
    Ok(unsafe { std::slice::from_raw_parts_mut(span.address as *mut MaybeUninit<u8>, size) })
}

fn host_span(buffer: &Bound<'_, PyAny>) -> PyResult<Span> {
    on_host(span(buffer).ok_or_else(|| expected("Buffer", buffer))?)
}

fn on_host(span: Span) -> PyResult<Span> {
    if span.is_cpu {
        return Ok(span);
    }
    Err(PyValueError::new_err("the buffer lies in device memory, not on the host"))
}

/// Refuses what is no `pyarrow.RecordBatch`, or one that was never initialised.
pub(crate) fn check_batch_argument(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let pyarrow = pyarrow(object.py())?;
    // SAFETY: a live object, and the GIL is held.
    let is_made = unsafe { pyarrow.bridge.has_batch(object.as_ptr().cast()) };
    if !object.is_instance(pyarrow.record_batch.bind(object.py()))? {
        return Err(expected("RecordBatch", object));
    }
    if is_made { Ok(()) } else { Err(not_initialised(object)) }
}

/// Refuses what is no `pyarrow.Schema`, or one that was never initialised.
pub(crate) fn check_schema_argument(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let pyarrow = pyarrow(object.py())?;
    // SAFETY: a live object, and the GIL is held.
    let is_made = unsafe { pyarrow.bridge.has_schema(object.as_ptr().cast()) };
    if is_made && object.is_instance(pyarrow.schema.bind(object.py()))? {
        return Ok(());
    }
    Err(expected("Schema", object))
}

/// Whether any data of an array, chunked array, record batch or table lies in device memory.
pub(crate) fn is_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // SAFETY: a live object, and the GIL is held.
    Ok(unsafe { pyarrow(object.py())?.bridge.is_on_device(object.as_ptr().cast()) })
}

/// Refuses what has no arrays, as an object of pyarrow's that `__new__` alone has made.
pub(crate) fn check_has_arrays(object: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: a live object, and the GIL is held.
    let has_arrays = unsafe { pyarrow(object.py())?.bridge.has_arrays(object.as_ptr().cast()) };
    if has_arrays { Ok(()) } else { Err(not_initialised(object)) }
}

/// A record batch of the host's as the message that it is going to be.  To be dropped with the GIL
/// held.
pub(crate) fn payload(batch: &Bound<'_, PyAny>) -> PyResult<Payload> {
    let py = batch.py();
    // SAFETY: a live object, and the GIL is held.
    unsafe { pyarrow(py)?.bridge.payload(batch.as_ptr().cast()) }.or_raise(py)
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
    columns: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = schema.py();
    let pointers: Vec<_> = columns.iter().map(|column| column.as_ptr().cast()).collect();
    // SAFETY: live objects, and the GIL is held; the result is a new reference.
    unsafe {
        let made = pyarrow(py)?.bridge.assemble(schema.as_ptr().cast(), &pointers).or_raise(py)?;
        drop(columns); // kept until here
        Bound::from_owned_ptr_or_err(py, made.cast())
    }
}

/// Refuses what is no `DictionaryMemo`: its fields are read directly.
pub(crate) fn check_memo(memo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(memo) = memo else { return Ok(()) };
    let is_memo = is_of(memo, &pyarrow(memo.py())?.dictionary_memo);
    if is_memo { Ok(()) } else { Err(expected("DictionaryMemo", memo)) }
}

/// Refuses a memory pool of the wrong class; pyarrow itself crashes on some.
pub(crate) fn check_pool(argument: &str, pool: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(pool) = pool else { return Ok(()) };
    if is_of(pool, &pyarrow(pool.py())?.memory_pool) {
        return Ok(());
    }
    Err(incorrect_type(argument, "pyarrow.lib.MemoryPool", pool))
}
