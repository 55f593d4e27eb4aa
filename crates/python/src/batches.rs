//! Record batches as messages in device memory.

use crate::classes::classes;
use crate::context::context_argument;
use crate::convert::{
    check_batch_argument, check_pool, check_schema_argument, checked_batch, cuda_buffer_argument,
    host_bytes, is_cuda_buffer, is_on_device, open_file, reader, wrap_buffer,
};
use crate::errors::{OrRaise, expected};
use crate::pyarrow::pyarrow;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_host_io::upload;
use arrow_cuda_ipc::{DeviceMessage, Error as IpcError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Write a record batch, as a message without its schema, into device memory.
///
/// Parameters
/// ----------
/// batch : RecordBatch
///     The batch; one that lies on a device is brought to the host first.
/// ctx : Context
///     Where to allocate.
///
/// Returns
/// -------
/// dbuf : CudaBuffer
///     Holds the bytes that ``batch.serialize()`` gives.
///
/// Raises
/// ------
/// OSError
///     If the device has no room.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> ctx = cuda.Context(0)
/// >>> import pyarrow as pa
/// >>> batch = pa.record_batch({"x": [1, 2, 3]})
/// >>> message = cuda.serialize_record_batch(batch, ctx)
/// >>> message.equals(batch.serialize())
/// True
#[pyfunction]
pub(crate) fn serialize_record_batch<'py>(
    batch: &Bound<'py, PyAny>,
    ctx: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = batch.py();
    check_batch_argument(batch)?;
    let context = context_argument(ctx)?.context();
    let message = on_host(batch)?.call_method0("serialize")?;
    let bytes = host_bytes(&message)?;
    let buffer = py
        .detach(|| {
            let buffer = DeviceBuffer::allocate(context, bytes.len() as u64)?;
            upload(&buffer, 0, bytes)?;
            Ok::<_, arrow_cuda_buffer::Error>(buffer)
        })
        .or_raise(py)?;
    wrap_buffer(py, buffer)
}

/// Read the message at the start of a device buffer, or where a reader stands.
///
/// Parameters
/// ----------
/// source : CudaBuffer or BufferReader
///     Where the message lies; a reader is moved behind it.
/// pool : MemoryPool, optional
///     Accepted for compatibility; the metadata is allocated in the default pool.
///
/// Returns
/// -------
/// message : Message
///     Its body stays on the device, unless it is compressed.
///
/// Raises
/// ------
/// EOFError
///     At the end of a stream.
/// pyarrow.ArrowInvalid
///     If the message is damaged.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> ctx = cuda.Context(0)
/// >>> import pyarrow as pa
/// >>> batch = pa.record_batch({"x": [1, 2, 3]})
/// >>> message = cuda.serialize_record_batch(batch, ctx)
/// >>> read = cuda.read_message(message)
/// >>> read.type, read.body.is_cpu
/// ('record batch', False)
#[pyfunction]
#[pyo3(signature = (source, pool=None))]
pub(crate) fn read_message<'py>(
    source: &Bound<'py, PyAny>,
    pool: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    check_pool("pool", pool)?;
    let classes = classes(py)?;
    let file = if source.is_instance(classes.buffer_reader.bind(py))? {
        source.call_method0("_assert_readable")?;
        source.clone()
    } else if is_cuda_buffer(source)? {
        open_file(classes.buffer_reader.bind(py), source, false)?
    } else {
        return Err(PyTypeError::new_err(format!(
            "expected CudaBuffer or BufferReader instance, got {}",
            source.get_type().name()?
        )));
    };
    // libarrow believes what a message says of itself, so it is checked first.
    let reader = reader(&file)?;
    let position = py.detach(|| reader.tell()).or_raise(py)?;
    let rest = py.detach(|| reader.read_buffer_at(position, u64::MAX)).or_raise(py)?;
    match py.detach(|| DeviceMessage::read(&rest)) {
        // pyarrow itself says best how a stream ends.
        Ok(_) | Err(IpcError::EndOfStream) => {}
        Err(error) => return Err(error).or_raise(py),
    }
    py.import("pyarrow.ipc")?.call_method1("read_message", (file,))
}

/// Read a record batch from a message in device memory.
///
/// Parameters
/// ----------
/// buffer : CudaBuffer
///     The message, from its start on.
/// schema : Schema
///     The batch's schema.
/// dictionary_memo : DictionaryMemo, optional
///     The dictionaries of the schema's dictionary-encoded fields.
/// pool : MemoryPool, optional
///     Accepted for compatibility; the metadata is allocated in the default pool.
///
/// Returns
/// -------
/// batch : RecordBatch
///     Its data stays on the device.
///
/// Raises
/// ------
/// pyarrow.ArrowInvalid
///     If the message is damaged, or not of that schema.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> ctx = cuda.Context(0)
/// >>> import pyarrow as pa
/// >>> batch = pa.record_batch({"x": [1, 2, 3]})
/// >>> message = cuda.serialize_record_batch(batch, ctx)
/// >>> there = cuda.read_record_batch(message, batch.schema)
/// >>> there.copy_to(pa.default_cpu_memory_manager()).equals(batch)
/// True
#[pyfunction]
#[pyo3(signature = (buffer, schema, *, dictionary_memo=None, pool=None))]
pub(crate) fn read_record_batch<'py>(
    buffer: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    dictionary_memo: Option<&Bound<'py, PyAny>>,
    pool: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let pyarrow = pyarrow(py)?;
    let message = cuda_buffer_argument(buffer)?;
    check_schema_argument(schema)?;
    if let Some(memo) = dictionary_memo
        && !memo.is_instance(pyarrow.dictionary_memo.bind(py))?
    {
        return Err(expected("DictionaryMemo", memo));
    }
    check_pool("pool", pool)?;
    let facts = py.detach(|| DeviceMessage::read(message)).or_raise(py)?.facts;
    let ipc = py.import("pyarrow.ipc")?;
    let file = open_file(classes(py)?.buffer_reader.bind(py), buffer, false)?;
    let message = ipc.call_method1("read_message", (file,))?;
    let batch = ipc.call_method1("read_record_batch", (message, schema, dictionary_memo))?;
    let batch = checked_batch(&batch)?;
    if facts.is_compressed() {
        // libarrow decompresses on the host only.
        return batch.call_method1("copy_to", (buffer.getattr("memory_manager")?,));
    }
    Ok(batch)
}

/// The batch itself, or a copy on the host.
fn on_host<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // The columns are asked: a batch that libarrow has read calls itself a host batch.
    if !is_on_device(batch)? {
        return Ok(batch.clone());
    }
    let host = batch.py().import("pyarrow")?.call_method0("default_cpu_memory_manager")?;
    batch.call_method1("copy_to", (host,))
}
