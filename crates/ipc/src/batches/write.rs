//! Writes record batches of the host, and what a message without dictionaries refuses.

use crate::Error;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_cuda_array::child_types;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{DataType, Schema, SchemaRef};

/// Writes a record batch, as one message without its schema, into device memory.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{DeviceMessage, MessageKind, serialize_record_batch};
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
/// assert_eq!(DeviceMessage::read(&message)?.facts.kind, MessageKind::Batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`] for a batch with dictionaries, which go into messages of their own:
/// [`serialize_stream`] writes them; driver errors.
pub fn serialize_record_batch(
    batch: &RecordBatch,
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    let schema = batch.schema();
    refuse_dictionaries(&schema)?;
    // arrow-rs shares the batch's memory only in streams, whose schema precedes the first batch.
    let mut encoder = StreamEncoder::try_new(&schema)?;
    encoder.encode(&RecordBatch::new_empty(schema))?;
    gathered(&encoder.encode(batch)?, context)
}

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
/// [`Error::Message`] for a batch with another schema, or driver errors.
pub fn serialize_stream(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    if let Some(other) = batches.iter().find(|batch| batch.schema().fields() != schema.fields()) {
        let other = other.schema();
        let text = format!("a batch with the schema {other}, not the stream's: {schema}");
        return Err(Error::Message(text));
    }
    let mut encoder = StreamEncoder::try_new(schema)?;
    let mut parts = Vec::new();
    for batch in batches {
        parts.extend(encoder.encode(batch)?);
    }
    parts.extend(encoder.finish()?);
    gathered(&parts, context)
}

pub(super) fn refuse_dictionaries(schema: &Schema) -> Result<(), Error> {
    let mut types = schema.fields().iter().map(|field| field.data_type());
    match types.any(has_dictionary) {
        true => Err(Error::Message(
            "the batch has dictionaries, which have messages of their own: serialize_stream or \
             serialize_device_stream writes them, read_stream or read_device_stream reads them"
                .into(),
        )),
        false => Ok(()),
    }
}

fn has_dictionary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(..))
        || child_types(data_type).into_iter().any(has_dictionary)
}

/// Copies parts of host memory to one buffer.
fn gathered(parts: &[Buffer], context: &Context) -> Result<DeviceBuffer, Error> {
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    Ok(DeviceBuffer::gathered(context, &parts)?)
}
