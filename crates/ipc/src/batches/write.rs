//! Writes record batches.

use crate::Error;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_cuda_array::{DeviceRecordBatch, FlatArrays, child_types};
use arrow_cuda_buffer::{DeviceBuffer, join};
use arrow_cuda_context::Context;
use arrow_cuda_layout::{Change, JoinPiece};
use arrow_ipc::writer::StreamEncoder;
use arrow_ipc::{
    Buffer as Place, FieldNode, Message, MessageArgs, MessageHeader, MetadataVersion,
    RecordBatch as BatchHeader, RecordBatchArgs,
};
use arrow_schema::{DataType, Schema, SchemaRef};
use flatbuffers::FlatBufferBuilder;

/// Where the body and its buffers begin, in bytes.
const ALIGNMENT: u64 = 64;
const MARKER: [u8; 4] = [0xFF; 4];
/// The marker and the length of the metadata.
const PREFIX: u64 = 8;

/// Writes a record batch, as one message without its schema, into device memory.
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
        let text = format!("a batch with the schema {}, not the stream's", other.schema());
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

/// Writes a record batch that lies on a device, as one message without its schema, into memory of the same context.
/// The columns do not pass through the host.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use arrow_cuda_array::DeviceRecordBatch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_device_batch, serialize_device_batch};
/// use std::sync::Arc;
///
/// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
/// let batch = RecordBatch::try_from_iter([("numbers", numbers)])?;
/// let there = DeviceRecordBatch::from_record_batch(&Context::primary(0)?, &batch)?;
/// let message = serialize_device_batch(&there.slice(1, 2)?)?;
/// let again = read_device_batch(&message, there.schema_ref())?;
/// assert_eq!(again.to_record_batch()?, batch.slice(1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`] for a batch with dictionaries, which go into messages of their own: [`serialize_stream`] writes
/// them from the host; driver errors.
pub fn serialize_device_batch(batch: &DeviceRecordBatch) -> Result<DeviceBuffer, Error> {
    refuse_dictionaries(batch.schema_ref())?;
    let flat = batch.to_flat()?;
    let (mut places, mut end) = (Vec::new(), 0u64);
    for buffer in &flat.buffers {
        let size = buffer.as_ref().map_or(0, DeviceBuffer::size);
        places.push((end, size));
        end = end.saturating_add(size).next_multiple_of(ALIGNMENT);
    }
    let header = header(batch.num_rows() as u64, &flat, &places, end);
    let (start, size) = (header.len() as u64, header.len() as u64 + end);
    let message = DeviceBuffer::allocate(batch.context(), size)?;
    message.fill(0)?; // between the buffers, too
    message.copy_from_host(0, &header)?;
    let from: Vec<_> = flat.buffers.iter().map(Option::as_ref).collect();
    let pieces = places.iter().enumerate().filter(|(_, (_, size))| *size > 0);
    let pieces = pieces.map(|(from, (position, size))| JoinPiece {
        to: 0,
        to_position: start + position,
        from,
        from_position: 0,
        count: *size,
        change: Change::Bytes,
    });
    let message = [message];
    join(batch.context(), &message, &from, &pieces.collect::<Vec<_>>())?;
    let [message] = message;
    Ok(message)
}

/// The bytes before the body, whose buffers have these positions and sizes.
fn header(num_rows: u64, flat: &FlatArrays, places: &[(u64, u64)], body_length: u64) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let node = |(length, nulls): &(u64, Option<u64>)| {
        FieldNode::new(length.cast_signed(), nulls.unwrap_or(0).cast_signed())
    };
    let place = |(at, size): &(u64, u64)| Place::new(at.cast_signed(), size.cast_signed());
    let nodes: Vec<_> = flat.nodes.iter().map(node).collect();
    let places: Vec<_> = places.iter().map(place).collect();
    let counts: Vec<_> = flat.view_buffers.iter().map(|count| count.cast_signed()).collect();
    let args = RecordBatchArgs {
        length: num_rows.cast_signed(),
        nodes: Some(builder.create_vector(&nodes)),
        buffers: Some(builder.create_vector(&places)),
        compression: None,
        variadicBufferCounts: (!counts.is_empty()).then(|| builder.create_vector(&counts)),
    };
    let batch = BatchHeader::create(&mut builder, &args);
    let args = MessageArgs {
        version: MetadataVersion::V5,
        header_type: MessageHeader::RecordBatch,
        header: Some(batch.as_union_value()),
        bodyLength: body_length.cast_signed(),
        custom_metadata: None,
    };
    let message = Message::create(&mut builder, &args);
    builder.finish(message, None);
    let metadata = builder.finished_data();
    let end = (PREFIX + metadata.len() as u64).next_multiple_of(ALIGNMENT);
    let mut header = [&MARKER[..], &((end - PREFIX) as u32).to_le_bytes(), metadata].concat();
    header.resize(end as usize, 0);
    header
}

pub(super) fn refuse_dictionaries(schema: &Schema) -> Result<(), Error> {
    let mut types = schema.fields().iter().map(|field| field.data_type());
    match types.any(has_dictionary) {
        true => Err(Error::Message(
            "the batch has dictionaries, which have messages of their own: use serialize_stream \
             and read_stream"
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
