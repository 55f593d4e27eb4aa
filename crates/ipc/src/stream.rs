//! Streams of record batches in device memory.

use crate::Error;
use crate::message::gathered;
use arrow_array::RecordBatch;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::SchemaRef;
use std::io::Cursor;
use std::panic::catch_unwind;

/// Writes record batches into device memory as a stream: the schema, dictionaries, and a message for each batch.
///
/// ```
/// use arrow_array::types::Int32Type;
/// use arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_stream, serialize_stream};
/// use std::sync::Arc;
///
/// let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
/// let batch = RecordBatch::try_from_iter([("words", Arc::new(words) as ArrayRef)])?;
/// let batches = [batch.clone(), batch.slice(1, 2)];
/// let buffer = serialize_stream(&batch.schema(), &batches, &Context::primary(0)?)?;
/// assert_eq!(read_stream(&buffer)?, (batch.schema(), batches.to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Arrow`] for a batch with another schema, or driver errors.
pub fn serialize_stream(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    if let Some(other) = batches.iter().find(|batch| batch.schema().fields() != schema.fields()) {
        let text = format!("a batch with the schema {}, not the stream's", other.schema());
        return Err(Error::Arrow(text));
    }
    let mut encoder = StreamEncoder::try_new(schema)?;
    let mut parts = Vec::new();
    for batch in batches {
        parts.extend(encoder.encode(batch)?);
    }
    parts.extend(encoder.finish()?);
    gathered(&parts, context)
}

/// Copies a stream in device memory to the host: its schema, and its record batches.
///
/// # Errors
///
/// [`Error::Arrow`] or [`Error::Message`] when the stream is damaged, or driver errors.
pub fn read_stream(buffer: &DeviceBuffer) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let bytes = buffer.to_vec()?;
    // For some damage, an assertion in arrow-rs fails without a description.
    let read = catch_unwind(|| {
        let reader = StreamReader::try_new(Cursor::new(bytes), None)?;
        Ok((reader.schema(), reader.collect::<Result<Vec<_>, _>>()?))
    });
    read.map_err(|_| Error::Message("the stream contradicts its schema".into()))?
}
