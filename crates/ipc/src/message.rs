//! A message in device memory.

use crate::Error;
use crate::frame::Frame;
use crate::metadata::{Metadata, check_buffers};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{StreamEncoder, StreamWriter};
use arrow_schema::{DataType, Field, SchemaRef};
use std::panic::catch_unwind;

/// How much of a message is copied at once: enough for the metadata of 256 columns with three
/// buffers each.  The time of a small copy grows little with its size, and a second copy would
/// double it.
const FIRST: u64 = 24 << 10;

const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// An encapsulated message: its metadata on the host, its body still on the device.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
///
/// let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("x", column)])?;
/// let buffer = serialize_record_batch(&batch, &Context::primary(0)?)?;
/// let message = DeviceMessage::read(&buffer)?;
/// assert_eq!(message.body.size(), message.facts.body_length);
/// assert!(!message.facts.is_compressed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceMessage {
    /// The layout of the metadata and the body in the buffer.
    pub frame: Frame,
    /// The metadata, unchanged.
    pub metadata: Vec<u8>,
    /// The parsed metadata.
    pub facts: Metadata,
    /// The body, a slice of the buffer.
    pub body: DeviceBuffer,
}

impl DeviceMessage {
    /// Reads the message at the start of a buffer.  Only its metadata is copied.
    ///
    /// # Errors
    ///
    /// [`Error::EndOfStream`] at a stream's end, [`Error::Message`] for a damaged message, or
    /// driver errors.
    pub fn read(buffer: &DeviceBuffer) -> Result<Self, Error> {
        let first = buffer.slice(0, buffer.size().min(FIRST))?.to_vec()?;
        let frame = Frame::parse(&first, buffer.size())?;
        let metadata =
            frame.metadata(first, |offset, size| Ok(buffer.slice(offset, size)?.to_vec()?))?;
        let facts = Metadata::parse(&metadata)?;
        facts.check(buffer.size() - frame.body_offset())?;
        let body = buffer.slice(frame.body_offset(), facts.body_length)?;
        Ok(Self { frame, metadata, facts, body })
    }
}

/// Writes a record batch, as one message without its schema, into device memory.
///
/// # Errors
///
/// [`Error::Arrow`] for a batch with dictionaries, which go into messages of their own:
/// [`serialize_stream`](crate::serialize_stream) writes them; driver errors.
pub fn serialize_record_batch(
    batch: &RecordBatch,
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    let schema = batch.schema();
    let is_dictionary = |field: &&Field| matches!(field.data_type(), DataType::Dictionary(..));
    if schema.flattened_fields().iter().any(is_dictionary) {
        let text =
            "the batch has dictionaries, which have messages of their own: use serialize_stream";
        return Err(Error::Arrow(text.into()));
    }
    // arrow-rs shares the batch's memory only in streams, whose schema precedes the first batch.
    let mut encoder = StreamEncoder::try_new(&schema)?;
    encoder.encode(&RecordBatch::new_empty(schema))?;
    gathered(&encoder.encode(batch)?, context)
}

/// Copies parts of host memory to one buffer.
pub(crate) fn gathered(parts: &[Buffer], context: &Context) -> Result<DeviceBuffer, Error> {
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    Ok(DeviceBuffer::gathered(context, &parts)?)
}

/// Copies a record batch, one message in device memory, to the host.
///
/// # Errors
///
/// [`Error::Message`] or [`Error::Arrow`] when the message is damaged or does not match the schema,
/// [`Error::EndOfStream`], or driver errors.
pub fn read_record_batch(buffer: &DeviceBuffer, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let message = DeviceMessage::read(buffer)?;
    // arrow-rs slices all buffers, and panics at one outside.
    check_buffers(&message.metadata)?;
    // arrow-rs checks a stream as a whole, so the message follows its schema here.
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, schema)?;
    writer.flush()?;
    drop(writer);
    stream.extend_from_slice(&0xFFFF_FFFFu32.to_le_bytes());
    let length = u32::try_from(message.metadata.len())
        .map_err(|_| Error::Message("the metadata's length does not fit into 4 bytes".into()))?;
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(&message.metadata);
    // The decoder returns a batch with an empty body only once it sees the following bytes.
    append(&mut stream, &message.body, &END_OF_STREAM)?;
    // For some damage, an assertion in arrow-rs fails without a description.
    let batch = catch_unwind(|| StreamDecoder::new().decode(&mut stream.into()))
        .map_err(|_| Error::Message("the message does not fit the schema".into()))??;
    batch.ok_or_else(|| Error::Arrow("the message is not a record batch".into()))
}

/// Appends a buffer's bytes, and `last`.
fn append(bytes: &mut Vec<u8>, buffer: &DeviceBuffer, last: &[u8]) -> Result<(), Error> {
    let begin = bytes.len();
    let size = usize::try_from(buffer.size()).unwrap_or(usize::MAX);
    let more = size.saturating_add(last.len());
    bytes.try_reserve_exact(more).map_err(|_| {
        Error::Arrow(format!("the host has no room for a body of {} bytes", buffer.size()))
    })?;
    bytes.resize(begin + size, 0);
    let (_, body) = bytes.split_at_mut(begin);
    buffer.copy_to_host(0, body)?;
    bytes.extend_from_slice(last);
    Ok(())
}
