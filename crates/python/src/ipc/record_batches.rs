//! Record batches as messages in device memory.

use super::schema_mismatch::mismatch;
use crate::contexts::argument::context_argument;
use crate::errors::{Failure, OrRaise, expected, extended};
use crate::pyarrow::classes::classes;
use crate::pyarrow::from_pyarrow::{
    check_batch_argument, check_memo, check_pool, check_schema_argument, cuda_buffer_argument,
    is_cuda_buffer, is_of, is_on_device, payload, reader,
};
use crate::pyarrow::to_pyarrow::{batch_in, open_file, with_message, wrap_buffer};
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_bridge::Payload;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{DeviceMessage, Error as IpcError};
use pyo3::prelude::*;

/// Write a record batch to device memory, as a message without its schema.
///
/// Parameters
/// ----------
/// batch : RecordBatch
///     The batch; a batch on a device is copied to the host first.
/// ctx : Context
///     Where to allocate.
///
/// Returns
/// -------
/// dbuf : CudaBuffer
///     Holds the same bytes as ``batch.serialize()``.  Of slices of string views, list views and
///     dense unions, it holds only what they reach.
///
/// Raises
/// ------
/// pyarrow.ArrowInvalid
///     If the batch is nested too deeply, or a column has offsets outside its data.
///
/// Examples
/// --------
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
    let write = || {
        let mut message = payload(&on_host(batch)?)?;
        py.detach(|| uploaded(&mut message, context)).or_raise(py)
    };
    let facts = |written: &DeviceBuffer| Facts::new(written.len(), context.device().number());
    wrap_buffer(py, traced(py, Area::Transfer, "serialize_record_batch", write, facts)?)
}

/// Read the message at the start of a device buffer, or at a reader's position.
///
/// Parameters
/// ----------
/// source : CudaBuffer or BufferReader
///     Where the message is; a reader advances past it.
/// pool : MemoryPool, optional
///     Accepted for compatibility; the metadata is allocated in the default pool.
///
/// Returns
/// -------
/// message : Message
///     The body stays on the device, unless it is compressed, or its nulls are not counted.
///
/// Raises
/// ------
/// EOFError
///     At the end of a stream.
/// pyarrow.ArrowInvalid
///     If the message is damaged.
/// OSError
///     If its body is cut off, or its metadata cannot be read.
///
/// Examples
/// --------
/// >>> batch = pa.record_batch({"x": [1, 2, 3]})
/// >>> message = cuda.serialize_record_batch(batch, ctx)
/// >>> read = cuda.read_message(message)
/// >>> read.type, read.body.is_cpu
/// ('record batch', False)
#[pyfunction(signature = (source, pool=None))]
pub(crate) fn read_message<'py>(
    source: &Bound<'py, PyAny>,
    pool: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    check_pool("pool", pool)?;
    let classes = classes(py)?;
    let file = if is_of(source, &classes.buffer_reader) {
        source.call_method0("_assert_readable")?;
        source.clone()
    } else if is_cuda_buffer(source)? {
        open_file(classes.buffer_reader.bind(py), source, "source", false)?
    } else {
        return Err(expected("CudaBuffer or BufferReader", source));
    };
    // libarrow trusts a message's metadata, so it is validated first.
    let reader = reader(&file)?;
    let position = py.detach(|| reader.position()).or_raise(py)?;
    let rest = py.detach(|| reader.read_buffer_at(position, usize::MAX)).or_raise(py)?;
    let ipc = py.import("pyarrow.ipc")?;
    let read = || ipc.call_method1("read_message", (&file,));
    match py.detach(|| DeviceMessage::read(&rest)) {
        Ok(message) => with_message(&file, position, &message, read),
        // pyarrow itself has the right error for the end of a stream.
        Err(IpcError::EndOfStream) => read(),
        Err(error) => Err(error).or_raise(py),
    }
}

/// Read a record batch from a message in device memory.
///
/// Parameters
/// ----------
/// buffer : CudaBuffer
///     The message, which begins at its first byte.
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
///     If the message is damaged, or does not match the schema.
/// OSError
///     If its body is cut off, or its metadata cannot be read.
///
/// Examples
/// --------
/// >>> batch = pa.record_batch({"x": [1, 2, 3]})
/// >>> message = cuda.serialize_record_batch(batch, ctx)
/// >>> there = cuda.read_record_batch(message, batch.schema)
/// >>> there.copy_to("cpu").equals(batch)
/// True
#[pyfunction(signature = (buffer, schema, *, dictionary_memo=None, pool=None))]
pub(crate) fn read_record_batch<'py>(
    buffer: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    dictionary_memo: Option<&Bound<'py, PyAny>>,
    pool: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let message = cuda_buffer_argument(buffer)?;
    check_schema_argument(schema)?;
    check_memo(dictionary_memo)?;
    check_pool("pool", pool)?;
    let message = py.detach(|| DeviceMessage::read(message)).or_raise(py)?;
    let stays_on_device = message.facts.stays_on_device();
    let counts = message.facts.counts();
    let batch = batch_in(buffer, schema, dictionary_memo, message).map_err(|error| {
        let found = counts.and_then(|counts| mismatch(schema, counts).ok().flatten());
        found.map_or(error.clone_ref(py), |text| extended(py, &error, &text))
    })?;
    if !stays_on_device {
        // libarrow decompresses, and counts nulls, on the host only.
        return batch.call_method1("copy_to", (buffer.getattr("memory_manager")?,));
    }
    Ok(batch)
}

/// A new device buffer with all of a message.
fn uploaded(message: &mut Payload, context: &Context) -> Result<DeviceBuffer, Failure> {
    Ok(DeviceBuffer::gathered(context, &message.ranges()?)?)
}

/// The batch itself, or a copy on the host.
fn on_host<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // Checks the columns: a batch that libarrow has read reports itself as a host batch.
    if !is_on_device(batch)? {
        return Ok(batch.clone());
    }
    let host = batch.py().import("pyarrow")?.call_method0("default_cpu_memory_manager")?;
    batch.call_method1("copy_to", (host,))
}
