//! Reads record batches.

use super::dictionaries::Dictionaries;
use super::write::refuse_dictionaries;
use crate::metadata::range_in_body;
use crate::outline::{Header, Outline};
use crate::{DeviceMessage, Error};
use arrow_array::RecordBatch;
use arrow_cuda_array::{DeviceArray, DeviceRecordBatch, FlatArrays};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_ipc::{MetadataVersion, RecordBatch as BatchHeader};
use arrow_schema::{Schema, SchemaRef};
use std::sync::Arc;

/// Copies a record batch, one message in device memory, to the host, and validates it there.
///
/// A message does not name the types of its columns.  With a schema of other types whose buffers fit, the same bytes
/// are values of those types: pass the schema that the batch was written with.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_record_batch, serialize_record_batch};
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
/// assert_eq!(read_record_batch(&message, batch.schema())?, batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`], [`Error::Unreadable`] or [`Error::Array`] when the message is damaged or its buffers do not
/// fit the schema, [`Error::EndOfStream`], or driver errors.
pub fn read_record_batch(buffer: &DeviceBuffer, schema: SchemaRef) -> Result<RecordBatch, Error> {
    Ok(read_device_batch(buffer, schema)?.to_host()?)
}

/// Reads a record batch, one message in device memory, whose columns stay there.
///
/// The columns share the buffer's memory.  Only the metadata is copied to the host, so what the columns hold
/// is not validated: see [`DeviceArray`].  The schema names the types, as for [`read_record_batch`].
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_device_batch, serialize_record_batch};
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
/// let there = read_device_batch(&message, batch.schema())?;
/// assert_eq!(there.slice(1, 2)?.to_host()?, batch.slice(1, 2)); // copies two rows
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`read_record_batch`].
pub fn read_device_batch(
    buffer: &DeviceBuffer,
    schema: SchemaRef,
) -> Result<DeviceRecordBatch, Error> {
    refuse_dictionaries(&schema)?;
    let message = DeviceMessage::read(buffer)?;
    let outline = outline(&message)?;
    match outline.header {
        Header::Batch(batch) => batch_of(&message, &outline, batch, schema, Vec::new()),
        _ => Err(Error::Message("the message is not a record batch".into())),
    }
}

/// Copies a stream in device memory to the host, and validates it there: its schema, and its record batches.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_stream, serialize_stream};
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let stream = serialize_stream(&batch.schema(), &[batch.clone()], &Context::primary(0)?)?;
/// let (schema, batches) = read_stream(&stream)?;
/// assert_eq!((schema, batches), (batch.schema(), vec![batch]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`], [`Error::Unreadable`] or [`Error::Array`] when the stream is damaged, [`Error::EndOfStream`]
/// when it has no message, or driver errors.
pub fn read_stream(buffer: &DeviceBuffer) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let (schema, batches) = read_device_stream(buffer)?;
    let batches = batches.iter().map(DeviceRecordBatch::to_host);
    Ok((schema, batches.collect::<Result<_, _>>()?))
}

/// Reads a stream in device memory, whose columns stay there: its schema, and its record batches.
///
/// Only the metadata of each message is copied to the host.
///
/// ```
/// use arrow_array::record_batch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_device_stream, serialize_stream};
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let batches = [batch.clone(), batch.slice(0, 2)];
/// let stream = serialize_stream(&batch.schema(), &batches, &Context::primary(0)?)?;
/// let (schema, batches) = read_device_stream(&stream)?;
/// assert_eq!((schema, batches[1].num_rows()), (batch.schema(), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`read_stream`].
pub fn read_device_stream(
    buffer: &DeviceBuffer,
) -> Result<(SchemaRef, Vec<DeviceRecordBatch>), Error> {
    let first = next(buffer).map_err(|error| if is_file(buffer) { a_file() } else { error });
    let (first, mut rest) = first?.ok_or(Error::EndOfStream)?;
    outline(&first)?;
    let (schema, mut dictionaries) = Dictionaries::of_schema(&first.metadata)?;
    let mut batches = Vec::new();
    while let Some((message, after)) = next(&rest)? {
        rest = after;
        let outline = outline(&message)?;
        match &outline.header {
            Header::Batch(batch) => {
                let values = dictionaries.values(dictionaries.numbers(), buffer.context())?;
                batches.push(batch_of(&message, &outline, *batch, schema.clone(), values)?);
            }
            Header::Dictionary(dictionary) => {
                let Some(values) = dictionary.data() else {
                    return Err(Error::Message("a dictionary without values".into()));
                };
                let kind = dictionaries.kind(dictionary.id())?;
                let inner = dictionaries.values(&kind.inner, buffer.context())?;
                let schema: SchemaRef = Arc::new(Schema::new(vec![kind.field()]));
                let values = batch_of(&message, &outline, values, schema, inner)?;
                let values: Vec<DeviceArray> = values.into_parts().1;
                dictionaries.add(dictionary.id(), dictionary.isDelta(), values)?;
            }
            _ => return Err(Error::Message("a message of another kind in the stream".into())),
        }
    }
    Ok((schema, batches))
}

/// Whether the bytes begin as those of an Arrow file.
fn is_file(buffer: &DeviceBuffer) -> bool {
    let start = buffer.slice(..6).and_then(|start| start.to_vec());
    start.is_ok_and(|start| start == b"ARROW1")
}

fn a_file() -> Error {
    let text = "an Arrow file, not a stream: read it with arrow-ipc's FileReader, over a BufferReader of arrow-cuda-host-io";
    Error::Message(text.into())
}

/// The next message of a stream, and what follows it; `None` at the end.
fn next(stream: &DeviceBuffer) -> Result<Option<(DeviceMessage, DeviceBuffer)>, Error> {
    let message = match DeviceMessage::read(stream) {
        Err(Error::EndOfStream) => return Ok(None),
        message => message?,
    };
    let end = message.frame.body_offset() as usize + message.body.len();
    let rest = stream.slice(end..)?;
    Ok(Some((message, rest)))
}

/// The metadata, of a version that this module knows.
fn outline(message: &DeviceMessage) -> Result<Outline<'_>, Error> {
    let outline =
        Outline::of(&message.metadata).map_err(|error| Error::Message(error.to_string()))?;
    match outline.version >= MetadataVersion::V4 {
        true => Ok(outline),
        false => Err(Error::Message("Old metadata version not supported".into())),
    }
}

fn batch_of(
    message: &DeviceMessage,
    outline: &Outline<'_>,
    batch: BatchHeader<'_>,
    schema: SchemaRef,
    dictionaries: Vec<DeviceArray>,
) -> Result<DeviceRecordBatch, Error> {
    if message.facts.is_compressed() {
        let text = "the body is compressed, or may be, as the custom metadata of an early version can say: write it \
                    without compression";
        return Err(Error::Message(text.into()));
    }
    let mut flat = FlatArrays::default();
    for buffer in batch.buffers().into_iter().flatten() {
        let (position, size) = range_in_body(buffer, message.body.len() as u64)?;
        flat.buffers.push(Some(message.body.slice_with_length(position as usize, size as usize)?));
    }
    // `facts` were checked: no number below is negative, but the count of nulls that nobody has counted.
    let nodes = batch.nodes().into_iter().flatten();
    flat.nodes = nodes
        .map(|node| (node.length().cast_unsigned(), u64::try_from(node.null_count()).ok()))
        .collect();
    let counts = batch.variadicBufferCounts().into_iter().flatten();
    flat.view_buffers = counts.map(i64::cast_unsigned).collect();
    flat.dictionaries = dictionaries;
    flat.has_bitmaps_of_unions = outline.version < MetadataVersion::V5;
    let num_rows = batch.length().cast_unsigned();
    Ok(DeviceRecordBatch::from_flat(message.body.context(), schema, num_rows, flat)?)
}
