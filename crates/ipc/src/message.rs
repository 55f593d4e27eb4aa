//! A message in device memory.

use crate::Error;
use crate::frame::Frame;
use crate::metadata::Metadata;
use arrow_cuda_buffer::DeviceBuffer;

/// How much of a message is copied at once: enough for the metadata of 256 columns with three
/// buffers each.  The time of a small copy grows little with its size, and a second copy would
/// double it.
const FIRST: usize = 24 << 10;

/// An encapsulated message: its metadata on the host, its body still on the device.
///
/// ```
/// # #[cfg(feature = "arrays")] {
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
/// assert_eq!(message.body.len() as u64, message.facts.body_length);
/// assert!(!message.facts.is_compressed());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
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
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, MessageKind, serialize_stream};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let stream = serialize_stream(&batch.schema(), &[batch], &Context::primary(0)?)?;
    /// let schema = DeviceMessage::read(&stream)?;
    /// assert_eq!(schema.facts.kind, MessageKind::Schema { is_swapped: false });
    /// let end = schema.frame.body_offset() as usize + schema.body.len();
    /// assert_eq!(DeviceMessage::read(&stream.slice(end..)?)?.facts.kind, MessageKind::Batch);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndOfStream`] at a stream's end, [`Error::Message`] or [`Error::Unreadable`] for a damaged message, or
    /// driver errors.
    pub fn read(buffer: &DeviceBuffer) -> Result<Self, Error> {
        let first = buffer.slice_with_length(0, buffer.len().min(FIRST))?.to_vec()?;
        let frame = Frame::parse(&first, buffer.len() as u64)?;
        let metadata = frame.metadata(first, |offset, size| {
            Ok(buffer.slice_with_length(offset as usize, size as usize)?.to_vec()?)
        })?;
        let facts = Metadata::parse(&metadata)?;
        facts.check(buffer.len() as u64 - frame.body_offset())?;
        let (start, length) = (frame.body_offset() as usize, facts.body_length as usize);
        let body = buffer.slice_with_length(start, length)?;
        Ok(Self { frame, metadata, facts, body })
    }
}
