//! A message that lies in device memory.

use crate::Error;
use crate::frame::{Frame, PREFIX};
use crate::metadata::Metadata;
use arrow_array::RecordBatch;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{
    DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, StreamWriter,
    write_message,
};
use arrow_schema::SchemaRef;
use std::panic::catch_unwind;

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
    /// The metadata, as the message holds it.
    pub metadata: Vec<u8>,
    /// What the metadata promises.
    pub facts: Metadata,
    /// The body, a slice of the buffer that was read.
    pub body: DeviceBuffer,
}

impl DeviceMessage {
    /// Reads the message at the start of a buffer.  Only its metadata is copied.
    ///
    /// # Errors
    ///
    /// [`Error::EndOfStream`] at a stream's end, [`Error::Message`] for a damaged message, or
    /// the driver's.
    pub fn read(buffer: &DeviceBuffer) -> Result<Self, Error> {
        let mut prefix = [0; PREFIX];
        let prefix = &mut prefix[..buffer.size().min(PREFIX as u64) as usize];
        buffer.copy_to_host(0, prefix)?;
        let frame = Frame::parse(prefix, buffer.size())?;
        let metadata = buffer.slice(frame.metadata_offset, frame.metadata_length)?.to_vec()?;
        let facts = Metadata::parse(&metadata, buffer.size() - frame.body_offset())?;
        let body = buffer.slice(frame.body_offset(), facts.body_length)?;
        Ok(Self { metadata, facts, body })
    }
}

/// Writes a record batch, as one message without its schema, into device memory.
///
/// # Errors
///
/// [`Error::Arrow`] for a batch that cannot be written alone (dictionaries travel in messages of
/// their own), or the driver's.
pub fn serialize_record_batch(
    batch: &RecordBatch,
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    let options = IpcWriteOptions::default();
    let mut tracker = DictionaryTracker::new(false);
    let mut scratch = IpcWriteContext::default();
    let (dictionaries, data) = IpcDataGenerator::default()
        .encode(batch, &mut tracker, &options, &mut scratch)
        .map_err(|error| Error::Arrow(error.to_string()))?;
    if !dictionaries.is_empty() {
        return Err(Error::Arrow("the batch has dictionaries: send it as a stream".into()));
    }
    let mut bytes = Vec::new();
    write_message(&mut bytes, data, &options).map_err(|error| Error::Arrow(error.to_string()))?;
    let buffer = DeviceBuffer::allocate(context, bytes.len() as u64)?;
    buffer.copy_from_host(0, &bytes)?;
    Ok(buffer)
}

/// Brings a record batch that lies in device memory as one message back to the host.
///
/// # Errors
///
/// [`Error::Message`] or [`Error::Arrow`] when the message is damaged or not of that schema,
/// [`Error::EndOfStream`], or the driver's.
pub fn read_record_batch(buffer: &DeviceBuffer, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let message = DeviceMessage::read(buffer)?;
    let arrow = |error: arrow_schema::ArrowError| Error::Arrow(error.to_string());
    // arrow-rs checks a stream as a whole, so the message is put behind its schema.
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, schema).map_err(arrow)?;
    writer.flush().map_err(arrow)?;
    drop(writer);
    stream.extend_from_slice(&0xFFFF_FFFFu32.to_le_bytes());
    let length = u32::try_from(message.metadata.len()).expect("a frame's length is 4 bytes");
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(&message.metadata);
    stream.extend_from_slice(&message.body.to_vec()?);
    // Of some damage arrow-rs only says that an assertion of its own failed.
    let batch = catch_unwind(|| StreamDecoder::new().decode(&mut stream.into()))
        .map_err(|_| Error::Message("the message does not fit the schema".into()))?
        .map_err(arrow)?;
    batch.ok_or_else(|| Error::Arrow("the message is no record batch".into()))
}
