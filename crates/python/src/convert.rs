//! Python objects to Rust's and back.  The only place that looks into pyarrow's objects.

use crate::errors::{OrRaise, expected};
use crate::graft;
use crate::pyarrow::{classes, pyarrow};
use arrow_cuda_bridge::{Object, PyarrowApi, Span};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

/// The pointers that the bridge needs.  A capsule of pyarrow's names the C signature of what it
/// holds; another signature means another pyarrow than the bridge was written for.
pub(crate) fn pyarrow_pointers(
    lib: &Bound<'_, PyModule>,
    buffer: &Bound<'_, PyType>,
    native_file: &Bound<'_, PyType>,
) -> PyResult<PyarrowApi> {
    let functions = lib.getattr("__pyx_capi__")?;
    let function =
        |name: &str, signature: &CStr| pointer(&functions.get_item(name)?, Some(signature));
    Ok(PyarrowApi {
        unwrap_buffer: function(
            "pyarrow_unwrap_buffer",
            c"std::shared_ptr< arrow::Buffer>  (PyObject *)",
        )?,
        wrap_buffer: function(
            "pyarrow_wrap_buffer",
            c"PyObject *(std::shared_ptr< arrow::Buffer>  const &)",
        )?,
        unwrap_batch: function(
            "pyarrow_unwrap_batch",
            c"std::shared_ptr< arrow::RecordBatch>  (PyObject *)",
        )?,
        wrap_batch: function(
            "pyarrow_wrap_batch",
            c"PyObject *(std::shared_ptr< arrow::RecordBatch>  const &)",
        )?,
        unwrap_schema: function(
            "pyarrow_unwrap_schema",
            c"std::shared_ptr< arrow::Schema>  (PyObject *)",
        )?,
        buffer_vtable: pointer(&buffer.getattr("__pyx_vtable__")?, None)?.cast(),
        native_file_vtable: pointer(&native_file.getattr("__pyx_vtable__")?, None)?.cast(),
        decref,
        save_thread,
        restore_thread,
    })
}

unsafe extern "C" fn decref(object: Object) {
    // SAFETY: bridge.h: a reference of its own, with the GIL held.
    unsafe { ffi::Py_DecRef(object.cast()) };
}

unsafe extern "C" fn save_thread() -> *mut c_void {
    // SAFETY: bridge.h: called with the GIL held.
    unsafe { ffi::PyEval_SaveThread().cast() }
}

unsafe extern "C" fn restore_thread(state: *mut c_void) {
    // SAFETY: bridge.h: called with what `save_thread` gave, on the same thread.
    unsafe { ffi::PyEval_RestoreThread(state.cast()) };
}

fn pointer(capsule: &Bound<'_, PyAny>, signature: Option<&CStr>) -> PyResult<*mut c_void> {
    // SAFETY: both functions check that the object is a capsule; the name is the capsule's own.
    unsafe {
        let name = ffi::PyCapsule_GetName(capsule.as_ptr());
        if let Some(error) = PyErr::take(capsule.py()) {
            return Err(error);
        }
        if let Some(signature) = signature
            && (name.is_null() || CStr::from_ptr(name) != signature)
        {
            return Err(PyImportError::new_err(format!(
                "this pyarrow has no function '{}'",
                signature.to_string_lossy()
            )));
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name);
        if pointer.is_null() { Err(PyErr::fetch(capsule.py())) } else { Ok(pointer) }
    }
}

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
    let object = graft::fresh(class, pyarrow.native_file.bind(py))?;
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
    object.is_instance(classes(object.py())?.cuda_buffer.bind(object.py()))
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

/// What a `pyarrow.Buffer` says of itself; none for other objects, and for those that were
/// never initialised.
pub(crate) fn span(object: &Bound<'_, PyAny>) -> Option<Span> {
    let pyarrow = pyarrow(object.py()).ok()?;
    if !object.is_instance(pyarrow.buffer.bind(object.py())).ok()? {
        return None;
    }
    // SAFETY: a pyarrow.Buffer, and the GIL is held.
    unsafe { pyarrow.bridge.span_of(object.as_ptr().cast()) }
}

/// A `pyarrow.Buffer` over whatever bytes an object has.
pub(crate) fn as_buffer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let buffer = pyarrow(object.py())?.as_buffer.bind(object.py()).call1((object,))?;
    if span(&buffer).is_none() {
        return Err(expected("Buffer", object));
    }
    Ok(buffer)
}

/// The bytes of a `pyarrow.Buffer` on the host.  They are only ever copied from: others may
/// write to them meanwhile, as everywhere in Python.
pub(crate) fn host_bytes<'a>(buffer: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    let span = host_span(buffer)?;
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
    if !span.is_mutable {
        return Err(PyValueError::new_err("the host buffer is not mutable"));
    }
    let size = usize::try_from(size).map_err(|_| expected("Buffer", buffer))?;
    if size == 0 {
        return Ok(&mut []);
    }
    debug_assert!(size as i64 <= span.size, "the caller checks what fits");
    // SAFETY: a mutable host buffer's memory, which the object keeps.
    Ok(unsafe { std::slice::from_raw_parts_mut(span.address as *mut MaybeUninit<u8>, size) })
}

fn host_span(buffer: &Bound<'_, PyAny>) -> PyResult<Span> {
    match span(buffer) {
        Some(span) if span.is_cpu => Ok(span),
        Some(_) => Err(PyValueError::new_err("the buffer lies in device memory, not on the host")),
        None => Err(expected("Buffer", buffer)),
    }
}

/// Refuses what is no `pyarrow.RecordBatch`, or one that was never initialised.
pub(crate) fn check_batch_argument(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let pyarrow = pyarrow(object.py())?;
    // SAFETY: a live object, and the GIL is held.
    let is_made = unsafe { pyarrow.bridge.has_batch(object.as_ptr().cast()) };
    if is_made && object.is_instance(pyarrow.record_batch.bind(object.py()))? {
        return Ok(());
    }
    Err(expected("RecordBatch", object))
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

/// Whether any data of a record batch lies in device memory.
pub(crate) fn is_on_device(batch: &Bound<'_, PyAny>) -> PyResult<bool> {
    // SAFETY: a live object, and the GIL is held.
    Ok(unsafe { pyarrow(batch.py())?.bridge.is_on_device(batch.as_ptr().cast()) })
}

/// The record batch that libarrow has read, once its buffers were found long enough.
pub(crate) fn checked_batch<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = batch.py();
    // SAFETY: a live object, and the GIL is held; the result is a new reference.
    unsafe {
        let checked = pyarrow(py)?.bridge.checked_batch(batch.as_ptr().cast()).or_raise(py)?;
        Bound::from_owned_ptr_or_err(py, checked.cast())
    }
}
