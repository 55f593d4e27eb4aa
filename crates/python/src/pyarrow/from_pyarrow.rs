//! Converts pyarrow's objects to Rust values, and checks arguments that must be such objects.
//!
//! Apart from `exchange/c_device.rs`, which works with arrays in C structures, only this file and
//! `to_pyarrow.rs` access the contents of pyarrow objects.

use crate::errors::{OrRaise, expected, incorrect_type, not_initialised};
use crate::pyarrow::classes::classes;
use crate::pyarrow::pyarrow;
use arrow_cuda_bridge::{ObjectRef, Payload, Span};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::{BufferReader, BufferWriter};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::mem::MaybeUninit;

/// The device buffer behind a `CudaBuffer` object, or any other that shows one exactly.
pub(crate) fn device_buffer<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a DeviceBuffer> {
    let found = pyarrow(object.py())?.bridge.buffer_of(object_ref(object));
    found.ok_or_else(|| expected("CudaBuffer", object))
}

/// An object, as the bridge takes it.
pub(crate) fn object_ref<'a>(object: &'a Bound<'_, PyAny>) -> ObjectRef<'a> {
    // SAFETY: the reference keeps the object alive, and shows that the GIL is held.
    unsafe { ObjectRef::new(object.as_ptr().cast()) }
}

pub(crate) fn is_cuda_buffer(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(object, &classes(object.py())?.cuda_buffer))
}

/// Whether the object really is of the class.  `isinstance` also believes the object, for which it
/// has to look up an attribute.
pub(crate) fn is_of(object: &Bound<'_, PyAny>, class: &Py<PyType>) -> bool {
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

pub(crate) fn reader<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a BufferReader> {
    // SAFETY: a pyarrow.NativeFile, by its class.
    unsafe { pyarrow(object.py())?.bridge.reader_of(object_ref(object)) }
        .ok_or_else(|| expected("BufferReader", object))
}

pub(crate) fn writer<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a BufferWriter> {
    // SAFETY: a pyarrow.NativeFile, by its class.
    unsafe { pyarrow(object.py())?.bridge.writer_of(object_ref(object)) }
        .ok_or_else(|| expected("BufferWriter", object))
}

/// Refuses an uninitialised pyarrow buffer or tensor, made by `__new__`: reading its bytes crashes.
pub(crate) fn check_has_bytes(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_buffer(object)? && span(object).is_none() {
        return Err(not_initialised(object));
    }
    check_tensor(object)
}

/// Refuses an uninitialised `pyarrow.Tensor`.
pub(crate) fn check_tensor(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = &pyarrow(object.py())?.lib.tensor;
    if !is_of(object, class) {
        return Ok(());
    }
    // A subclass may say otherwise.
    let kind = class.getattr(object.py(), "type")?;
    match kind.call_method1(object.py(), "__get__", (object,))?.is_none(object.py()) {
        true => Err(not_initialised(object)),
        false => Ok(()),
    }
}

/// Whether the object is a `pyarrow.Buffer`, initialised or not.
pub(crate) fn is_buffer(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(object, &pyarrow(object.py())?.lib.buffer))
}

/// Whether an object is a `pyarrow.Array` or a `pyarrow.ChunkedArray`.
pub(crate) fn has_values(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let pyarrow = pyarrow(object.py())?;
    Ok(is_of(object, &pyarrow.lib.array) || is_of(object, &pyarrow.lib.chunked_array))
}

/// The memory that a `pyarrow.Buffer` reports; `None` for other objects and for uninitialised ones.
pub(crate) fn span(object: &Bound<'_, PyAny>) -> Option<Span> {
    let pyarrow = pyarrow(object.py()).ok()?;
    if !is_of(object, &pyarrow.lib.buffer) {
        return None;
    }
    pyarrow.bridge.span_of(object_ref(object))
}

/// A `pyarrow.Buffer` over whatever bytes an object has.
pub(crate) fn as_buffer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if span(object).is_some() {
        return Ok(object.clone());
    }
    let buffer = pyarrow(object.py())?.lib.as_buffer.bind(object.py()).call1((object,))?;
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
    // SAFETY: a host buffer's memory, which the object owns; it is not empty, so not null.
    Ok(unsafe { std::slice::from_raw_parts(span.address as *const u8, size) })
}

/// The first `size` bytes of a `pyarrow.Buffer` on the host, to be written.
#[expect(clippy::mut_from_ref, reason = "the memory is the buffer's, not the reference's")]
pub(crate) fn host_bytes_mut<'a>(
    buffer: &'a Bound<'_, PyAny>,
    size: usize,
) -> PyResult<&'a mut [MaybeUninit<u8>]> {
    let span = host_span(buffer)?;
    if size == 0 {
        return Ok(&mut []);
    }
    if !span.is_mutable {
        return Err(PyValueError::new_err(
            "the host buffer is not mutable; pyarrow.cuda.new_host_buffer(nbytes) is, and so is \
             pyarrow.py_buffer of a bytearray or of a writable array",
        ));
    }
    // Python code may have resized it since the caller looked.
    if i64::try_from(size).is_ok_and(|size| size > span.size) {
        return Err(PyValueError::new_err("requested copy does not fit into host buffer"));
    }
    // SAFETY: a mutable host buffer's memory, which the object owns.
    Ok(unsafe { std::slice::from_raw_parts_mut(span.address as *mut MaybeUninit<u8>, size) })
}

fn host_span(buffer: &Bound<'_, PyAny>) -> PyResult<Span> {
    let span = span(buffer).ok_or_else(|| expected("Buffer", buffer))?;
    if span.is_cpu {
        return Ok(span);
    }
    Err(PyValueError::new_err("the buffer is in device memory, not in host memory"))
}

/// The pool behind an object of the class `PinnedMemoryPool`, if it was ever initialised.
pub(crate) fn pool_of(object: &Bound<'_, PyAny>) -> PyResult<Option<&'static HostPool>> {
    // SAFETY: the caller has it from a method of the class.
    Ok(unsafe { pyarrow(object.py())?.bridge.pool_of(object_ref(object)) })
}

/// Refuses other objects than initialised `pyarrow.RecordBatch`es.
pub(crate) fn check_batch_argument(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if !is_of(object, &pyarrow(object.py())?.lib.record_batch) {
        return Err(expected("RecordBatch", object));
    }
    check_has_arrays(object)
}

/// Refuses other objects than initialised `pyarrow.Schema`s.
pub(crate) fn check_schema_argument(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let pyarrow = pyarrow(object.py())?;
    match is_of(object, &pyarrow.lib.schema) && pyarrow.bridge.is_initialised(object_ref(object)) {
        true => Ok(()),
        false => Err(expected("Schema", object)),
    }
}

/// Whether any data of an array, chunked array, record batch or table lies in device memory.
pub(crate) fn is_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(pyarrow(object.py())?.bridge.is_on_device(object_ref(object)))
}

/// Refuses an uninitialised object with arrays, or reader, made by `__new__`, and other objects.
#[pyfunction(name = "_check_has_data")]
pub(crate) fn check_has_arrays(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let pyarrow = pyarrow(object.py())?;
    let is_initialised = match is_of(object, &pyarrow.lib.record_batch_reader) {
        // SAFETY: an object of the class.
        true => unsafe { pyarrow.bridge.is_initialised_reader(object_ref(object)) },
        false => pyarrow.bridge.is_initialised(object_ref(object)),
    };
    if is_initialised { Ok(()) } else { Err(not_initialised(object)) }
}

/// The IPC message of a record batch on the host.  Must be dropped with the GIL held.
pub(crate) fn payload(batch: &Bound<'_, PyAny>) -> PyResult<Payload> {
    let py = batch.py();
    // SAFETY: the caller drops it with the GIL held.
    unsafe { pyarrow(py)?.bridge.payload(object_ref(batch)) }.or_raise(py)
}

/// Refuses other objects than a `DictionaryMemo`, whose fields are read directly.
pub(crate) fn check_memo(memo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(memo) = memo else { return Ok(()) };
    let is_memo = is_of(memo, &pyarrow(memo.py())?.lib.dictionary_memo);
    if is_memo { Ok(()) } else { Err(expected("DictionaryMemo", memo)) }
}

/// Refuses a memory pool of the wrong class; pyarrow itself crashes on some.
pub(crate) fn check_pool(argument: &str, pool: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(pool) = pool else { return Ok(()) };
    if is_of(pool, &pyarrow(pool.py())?.lib.memory_pool) {
        return Ok(());
    }
    Err(incorrect_type(argument, "pyarrow.lib.MemoryPool", pool))
}
