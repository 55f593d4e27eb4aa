//! What a message's metadata promises, and whether it can be true.

use crate::Error;
use arrow_ipc::{Message, MessageHeader, MetadataVersion, RecordBatch, root_as_message};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Columns, or the values of a dictionary.
    Batch {
        /// Whether the body's buffers are compressed, or may be: see [`Metadata::is_compressed`].
        is_compressed: bool,
    },
    /// A schema, which has no body.
    Schema,
    /// A tensor or something newer.
    Other,
}

/// The metadata of a message, checked: every buffer that it names lies within the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// What the message is.
    pub content: Content,
    /// The body's length, in bytes.
    pub body_length: u64,
}

impl Metadata {
    /// Checks a message's metadata, for which `available` bytes of body are there.
    ///
    /// # Errors
    ///
    /// [`Error::Message`] when it is damaged, or promises what the body cannot hold.
    pub fn parse(bytes: &[u8], available: u64) -> Result<Self, Error> {
        let message = root_as_message(bytes)
            .map_err(|error| Error::Message(format!("invalid message metadata: {error}")))?;
        let body_length = non_negative("body length", message.bodyLength())?;
        if body_length > available {
            return Err(Error::Message(format!(
                "the message's body takes {body_length} bytes, only {available} follow"
            )));
        }
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
            }
            MessageHeader::Schema => {
                return Ok(Self { content: Content::Schema, body_length });
            }
            _ => return Ok(Self { content: Content::Other, body_length }),
        };
        let Some(batch) = batch else {
            return Err(Error::Message("the message's header is missing".into()));
        };
        check_batch(&batch, body_length)?;
        let is_compressed = batch.compression().is_some() || may_be_old_compressed(&message);
        Ok(Self { content: Content::Batch { is_compressed }, body_length })
    }

    /// Whether the body's buffers are compressed.  The first writers with compression noted it in
    /// the custom metadata of version 4, so all messages of that version which have any count as
    /// compressed, too.
    pub fn is_compressed(&self) -> bool {
        self.content == Content::Batch { is_compressed: true }
    }
}

fn may_be_old_compressed(message: &Message<'_>) -> bool {
    message.version() == MetadataVersion::V4 && message.custom_metadata().is_some()
}

fn check_batch(batch: &RecordBatch<'_>, body_length: u64) -> Result<(), Error> {
    non_negative("row count", batch.length())?;
    for node in batch.nodes().into_iter().flatten() {
        let length = non_negative("column length", node.length())?;
        if non_negative("null count", node.null_count())? > length {
            return Err(Error::Message("a column has more nulls than values".into()));
        }
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let offset = non_negative("buffer offset", buffer.offset())?;
        let length = non_negative("buffer length", buffer.length())?;
        if offset.checked_add(length).is_none_or(|end| end > body_length) {
            return Err(Error::Message(format!(
                "a buffer of {length} bytes at offset {offset} lies outside the message's body \
                 of {body_length} bytes"
            )));
        }
        if length > 0 && !offset.is_multiple_of(8) {
            return Err(Error::Message(format!(
                "a buffer begins at offset {offset}, which is no multiple of 8"
            )));
        }
    }
    for count in batch.variadicBufferCounts().into_iter().flatten() {
        non_negative("variadic buffer count", count)?;
    }
    Ok(())
}

fn non_negative(what: &str, value: i64) -> Result<u64, Error> {
    u64::try_from(value).map_err(|_| Error::Message(format!("the message's {what} is {value}")))
}
