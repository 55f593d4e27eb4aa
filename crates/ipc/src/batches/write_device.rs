//! Writes record batches that lie on a device.

use super::dictionaries::Dictionaries;
use super::write::refuse_dictionaries;
use crate::Error;
use crate::encode::{Arrays, Dictionary};
use arrow_cuda_array::{DeviceArray, DeviceRecordBatch, FlatArrays};
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError, join};
use arrow_cuda_context::Context;
use arrow_cuda_layout::{Change, JoinPiece};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_ipc::{Buffer, FieldNode, MetadataVersion};
use arrow_schema::{Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Where messages, bodies and buffers begin, in bytes.
const ALIGNMENT: u64 = 64;
const MARKER: [u8; 4] = [0xFF; 4];
/// The marker and the length of the metadata.
const PREFIX: u64 = 8;

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
/// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
/// let message = serialize_device_batch(&there.slice(1, 2)?)?;
/// let again = read_device_batch(&message, there.schema())?;
/// assert_eq!(again.to_host()?, batch.slice(1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`] for a batch with dictionaries, which go into messages of their own:
/// [`serialize_device_stream`] writes them; driver errors.
pub fn serialize_device_batch(batch: &DeviceRecordBatch) -> Result<DeviceBuffer, Error> {
    refuse_dictionaries(batch.schema_ref())?;
    let mut messages = Messages::default();
    messages.add(batch.num_rows(), batch.to_flat()?, None);
    messages.write(batch.context())
}

/// Writes record batches that lie on a device, as a stream, into memory of a context: the schema, dictionaries, and a
/// message for each batch.  The columns do not pass through the host.
///
/// A dictionary is written again where a batch has its values in other memory than the batch before.
///
/// ```
/// use arrow_array::types::Int32Type;
/// use arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
/// use arrow_cuda_array::DeviceRecordBatch;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{read_stream, serialize_device_stream};
/// use std::sync::Arc;
///
/// let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
/// let batch = RecordBatch::try_from_iter([("words", Arc::new(words) as ArrayRef)])?;
/// let context = Context::primary(0)?;
/// let there = DeviceRecordBatch::from_host(&context, &batch)?;
/// let stream = serialize_device_stream(&batch.schema(), &[there.slice(1, 2)?, there], &context)?;
/// assert_eq!(read_stream(&stream)?, (batch.schema(), vec![batch.slice(1, 2), batch]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Message`] for a batch with another schema; [`Error::Buffer`] for one of another context; driver errors.
pub fn serialize_device_stream(
    schema: &SchemaRef,
    batches: &[DeviceRecordBatch],
    context: &Context,
) -> Result<DeviceBuffer, Error> {
    let (mut tracker, options) = (DictionaryTracker::new(false), IpcWriteOptions::default());
    let metadata = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options)
        .ipc_message;
    let (kept, dictionaries) = Dictionaries::of_schema(&metadata)?;
    if kept.fields() != schema.fields() {
        let text = "a dictionary whose values are a dictionary, which a message cannot describe: cast the values";
        return Err(Error::Message(text.into()));
    }
    let mut stream = Stream {
        messages: Messages::default(),
        dictionaries: &dictionaries,
        written: HashMap::new(),
    };
    stream.messages.add_metadata(&metadata);
    for batch in batches {
        if batch.schema_ref().fields() != schema.fields() {
            let other = batch.schema_ref();
            let text = format!("a batch with the schema {other}, not the stream's: {schema}");
            return Err(Error::Message(text));
        }
        if !batch.context().is_same(context) {
            let text = "a batch of another context: copy_to copies it".into();
            return Err(BufferError::Invalid(text).into());
        }
        let mut flat = batch.to_flat()?;
        let values = std::mem::take(&mut flat.dictionaries);
        stream.add_dictionaries(dictionaries.numbers(), values)?;
        stream.messages.add(batch.num_rows(), flat, None);
    }
    stream.messages.end();
    stream.messages.write(context)
}

struct Stream<'a> {
    messages: Messages,
    dictionaries: &'a Dictionaries,
    /// The values that each dictionary has, by its number.
    written: HashMap<i64, DeviceArray>,
}

impl Stream<'_> {
    /// Writes the values of dictionaries, unless they are written already; the dictionaries within them come first.
    fn add_dictionaries(&mut self, numbers: &[i64], all: Vec<DeviceArray>) -> Result<(), Error> {
        for (number, values) in numbers.iter().zip(all) {
            if self.written.get(number).is_some_and(|before| before.is_same_memory(&values)) {
                continue;
            }
            let kind = self.dictionaries.kind(*number)?;
            let schema = Arc::new(Schema::new(vec![kind.field()]));
            let rows = DeviceRecordBatch::try_new(schema, vec![values.clone()])?;
            let mut flat = rows.to_flat()?;
            self.add_dictionaries(&kind.inner, std::mem::take(&mut flat.dictionaries))?;
            let dictionary = Dictionary { id: *number, is_delta: false };
            self.messages.add(rows.num_rows(), flat, Some(dictionary));
            self.written.insert(*number, values);
        }
        Ok(())
    }
}

/// Messages one after the other: their metadata, which is on the host, and their buffers, which are not.
#[derive(Default)]
struct Messages {
    /// The metadata of all messages, and where each begins there and in the result.
    metadata: Vec<u8>,
    starts: Vec<(u64, u64)>,
    buffers: Vec<(DeviceBuffer, u64)>,
    end: u64,
}

impl Messages {
    fn add(&mut self, num_rows: usize, flat: FlatArrays, dictionary: Option<Dictionary>) {
        let (mut found, mut body_length) = (Vec::new(), 0u64);
        let mut places = Vec::new();
        for buffer in flat.buffers {
            let size = buffer.as_ref().map_or(0, DeviceBuffer::len) as u64;
            places.push(Buffer::new(body_length.cast_signed(), size.cast_signed()));
            found.extend(buffer.map(|buffer| (buffer, body_length)));
            body_length = body_length.saturating_add(size).next_multiple_of(ALIGNMENT);
        }
        let node = |(length, nulls): (u64, Option<u64>)| {
            FieldNode::new(length.cast_signed(), nulls.unwrap_or(0).cast_signed())
        };
        let counts: Vec<_> = flat.view_buffers.into_iter().map(u64::cast_signed).collect();
        let arrays = Arrays {
            length: num_rows as i64,
            nodes: flat.nodes.into_iter().map(node).collect(),
            buffers: places,
            view_buffers: Some(counts).filter(|counts| !counts.is_empty()),
            body_length,
        };
        self.add_metadata(&arrays.encode(MetadataVersion::V5, dictionary));
        let body = self.end;
        self.buffers.extend(found.into_iter().map(|(buffer, at)| (buffer, body + at)));
        self.end += body_length;
    }

    /// Adds metadata, after which the body begins.
    fn add_metadata(&mut self, metadata: &[u8]) {
        let size = (PREFIX + metadata.len() as u64).next_multiple_of(ALIGNMENT);
        self.add_bytes(&[&MARKER[..], &((size - PREFIX) as u32).to_le_bytes(), metadata].concat());
        self.end = self.end.next_multiple_of(ALIGNMENT);
    }

    /// Ends a stream.
    fn end(&mut self) {
        self.add_bytes(&[&MARKER[..], &[0; 4]].concat());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.starts.push((self.metadata.len() as u64, self.end));
        self.metadata.extend_from_slice(bytes);
        self.end += bytes.len() as u64;
    }

    fn write(&self, context: &Context) -> Result<DeviceBuffer, Error> {
        let whole = DeviceBuffer::allocate(context, self.end as usize)?;
        whole.fill(0)?; // between the buffers, too
        let metadata = DeviceBuffer::gathered(context, &[&self.metadata])?;
        let ends = self.starts.iter().skip(1).map(|(from, _)| *from);
        let ends = ends.chain([metadata.len() as u64]);
        let heads = self.starts.iter().zip(ends);
        let heads = heads.map(|((from, to), end)| piece(0, *from, *to, end - from));
        let bodies = self.buffers.iter().enumerate();
        let bodies =
            bodies.map(|(index, (buffer, to))| piece(index + 1, 0, *to, buffer.len() as u64));
        let pieces: Vec<_> = heads.chain(bodies).filter(|piece| piece.count > 0).collect();
        let buffers = self.buffers.iter().map(|(buffer, _)| buffer);
        let from: Vec<_> = [&metadata].into_iter().chain(buffers).map(Some).collect();
        join(context, std::slice::from_ref(&whole), &from, &pieces)?;
        Ok(whole)
    }
}

fn piece(from: usize, from_position: u64, to_position: u64, count: u64) -> JoinPiece {
    JoinPiece { to: 0, to_position, from, from_position, count, change: Change::Bytes }
}
