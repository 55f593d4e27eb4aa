//! A message's metadata, and its validation.  Pure.

use crate::Error;
use crate::outline::{Header, Outline, byte_order};
use arrow_ipc::{Buffer, Endianness, RecordBatch};

/// The kind of a message.
///
/// ```
/// # #[cfg(feature = "arrays")] {
/// use arrow_cuda_ipc::{Frame, MessageKind, Metadata};
/// use arrow_ipc::writer::StreamWriter;
/// use arrow_schema::Schema;
///
/// let stream = StreamWriter::try_new(Vec::new(), &Schema::empty())?.into_inner()?;
/// let frame = Frame::parse(&stream, stream.len() as u64)?;
/// let metadata = &stream[frame.metadata_offset as usize..frame.body_offset() as usize];
/// let kind = Metadata::parse(metadata)?.kind;
/// assert!(matches!(kind, MessageKind::Schema { is_swapped: false })); // written here
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A schema, which has no body.
    Schema {
        /// Whether the byte order of the following batches differs from this machine's.
        is_swapped: bool,
    },
    /// The values of a dictionary.
    Dictionary {
        /// Which dictionary of the schema it is.
        id: i64,
        /// Whether they are appended to the values of an earlier message.
        is_delta: bool,
    },
    /// Columns.
    Batch,
    /// A tensor or something newer.
    Other,
}

/// The parsed metadata of a message.
///
/// ```
/// use arrow_cuda_ipc::Metadata;
///
/// assert!(Metadata::parse(b"not metadata").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The body's length, in bytes.
    pub body_length: u64,
    /// Facts about the columns in the body; `None` for a message without columns.
    columns: Option<Columns>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Columns {
    is_compressed: bool,
    /// Whether the number of nulls of each array is stated.
    is_counted: bool,
    /// Arrays, nested ones too, and buffers.
    counts: (usize, usize),
    /// The first contradiction.
    defect: Option<Error>,
}

impl Metadata {
    /// Reads a message's metadata.  [`check`](Self::check) validates it.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_cuda_ipc::{Frame, Metadata};
    /// use arrow_ipc::writer::StreamWriter;
    /// use arrow_schema::Schema;
    ///
    /// let stream = StreamWriter::try_new(Vec::new(), &Schema::empty())?.into_inner()?;
    /// let frame = Frame::parse(&stream, stream.len() as u64)?;
    /// let metadata = &stream[frame.metadata_offset as usize..frame.body_offset() as usize];
    /// assert_eq!(Metadata::parse(metadata)?.body_length, 0); // a schema has no body
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] when the bytes are not a message's metadata, or the length of its body
    /// is negative.
    pub fn parse(metadata: &[u8]) -> Result<Self, Error> {
        let outline = Outline::of(metadata)
            .map_err(|_| Error::Unreadable("Invalid flatbuffers message.".into()))?;
        let body_length = u64::try_from(outline.body_length)
            .map_err(|_| Error::Unreadable("Invalid IPC message: negative bodyLength".into()))?;
        let columns = |batch: Option<RecordBatch<'_>>| Columns {
            is_compressed: batch.is_some_and(|batch| batch.compression().is_some())
                || outline.is_early_version(),
            is_counted: !batch
                .and_then(|batch| batch.nodes())
                .into_iter()
                .flatten()
                .any(|node| node.null_count() == UNCOUNTED),
            counts: batch.map_or((0, 0), |batch| {
                let (arrays, buffers) = (batch.nodes(), batch.buffers());
                (arrays.map_or(0, |all| all.len()), buffers.map_or(0, |all| all.len()))
            }),
            defect: check_columns(batch).err(),
        };
        let (kind, columns) = match outline.header {
            Header::Schema(order) => (MessageKind::Schema { is_swapped: is_swapped(order) }, None),
            Header::Dictionary(values) => {
                let kind = MessageKind::Dictionary { id: values.id(), is_delta: values.isDelta() };
                (kind, Some(columns(values.data())))
            }
            Header::Batch(batch) => (MessageKind::Batch, Some(columns(Some(batch)))),
            Header::Other => (MessageKind::Other, None),
        };
        Ok(Self { kind, body_length, columns })
    }

    /// Reads the footer of an IPC file as if it were a schema message.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_cuda_ipc::{MessageKind, Metadata};
    /// use arrow_ipc::writer::FileWriter;
    /// use arrow_schema::Schema;
    ///
    /// let file = FileWriter::try_new(Vec::new(), &Schema::empty())?.into_inner()?;
    /// let end = file.len() - 10; // the footer's length and the magic
    /// let length = i32::from_le_bytes(file[end..end + 4].try_into()?) as usize;
    /// let footer = Metadata::parse_footer(&file[end - length..end])?;
    /// assert_eq!(footer.kind, MessageKind::Schema { is_swapped: false });
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Message`] when the bytes are not a footer with a schema.
    pub fn parse_footer(footer: &[u8]) -> Result<Self, Error> {
        let order = byte_order(footer)
            .map_err(|error| Error::Message(format!("invalid footer: {error}")))?
            .ok_or_else(|| Error::Message("the footer has no schema".into()))?;
        let kind = MessageKind::Schema { is_swapped: is_swapped(order) };
        Ok(Self { kind, body_length: 0, columns: None })
    }

    /// Checks the body's length, of which `available` bytes exist, and the lengths and null counts of arrays.  Whether
    /// a buffer lies within the body is checked by who reads it: libarrow accepts a bitmap anywhere if there are no
    /// nulls, and does not read it.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    /// let facts = DeviceMessage::read(&message)?.facts;
    /// facts.check(facts.body_length)?;
    /// assert!(facts.check(facts.body_length - 1).is_err());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] when the body is cut off, [`Error::Message`] when the metadata contradicts itself.
    pub fn check(&self, available: u64) -> Result<(), Error> {
        if self.body_length > available {
            return Err(Error::Unreadable(format!(
                "Expected to be able to read {} bytes for message body, got {available}",
                self.body_length
            )));
        }
        match self.columns.as_ref().and_then(|columns| columns.defect.clone()) {
            Some(defect) => Err(defect),
            None => Ok(()),
        }
    }

    /// How many arrays, nested ones too, and buffers the body has; `None` for a message without columns.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Int64, [4, 5, 6]))?;
    /// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    /// let counts = DeviceMessage::read(&message)?.facts.counts();
    /// assert_eq!(counts, Some((2, 4))); // each column has a bitmap and values
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counts(&self) -> Option<(usize, usize)> {
        self.columns.as_ref().map(|columns| columns.counts)
    }

    /// Whether the body's buffers are compressed, or may be.  The first writers with compression
    /// recorded it in the custom metadata of version 4, so any message of that version with custom
    /// metadata counts as compressed, too.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    /// assert!(!DeviceMessage::read(&message)?.facts.is_compressed());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_compressed(&self) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.is_compressed)
    }

    /// Whether the message states how many nulls each array has, or has no columns.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
    ///
    /// let batch = record_batch!(("x", Int64, [Some(1), None]))?;
    /// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    /// assert!(DeviceMessage::read(&message)?.facts.is_counted()); // it says that there is one null
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_counted(&self) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.is_counted)
    }

    /// Whether libarrow slices the body without reading it, so that the body may stay on the
    /// device. libarrow decompresses on the host, and counts nulls there if the message does not
    /// state their number.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{DeviceMessage, serialize_record_batch};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let message = serialize_record_batch(&batch, &Context::primary(0)?)?;
    /// assert!(DeviceMessage::read(&message)?.facts.stays_on_device());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stays_on_device(&self) -> bool {
        self.columns.as_ref().is_some_and(|columns| {
            !columns.is_compressed && columns.is_counted && columns.defect.is_none()
        })
    }
}

/// The null count of an array whose nulls nobody has counted.
const UNCOUNTED: i64 = -1;

fn is_swapped(order: Endianness) -> bool {
    !order.equals_to_target_endianness()
}

fn check_columns(batch: Option<RecordBatch<'_>>) -> Result<(), Error> {
    let batch = batch.ok_or_else(|| Error::Message("the message's header is missing".into()))?;
    non_negative("row count", batch.length())?;
    for node in batch.nodes().into_iter().flatten() {
        let length = non_negative("column length", node.length())?;
        let nulls = node.null_count();
        if nulls != UNCOUNTED && non_negative("null count", nulls)? > length {
            return Err(Error::Message("a column has more nulls than values".into()));
        }
    }
    for count in batch.variadicBufferCounts().into_iter().flatten() {
        non_negative("variadic buffer count", count)?;
    }
    Ok(())
}

/// Where a buffer begins in a body of `body_length` bytes, and its length.  libarrow does not look where one without
/// bytes begins.
pub(crate) fn range_in_body(buffer: &Buffer, body_length: u64) -> Result<(u64, u64), Error> {
    let length = non_negative("buffer length", buffer.length())?;
    if length == 0 {
        return Ok((0, 0));
    }
    let offset = non_negative("buffer offset", buffer.offset())?;
    if offset.checked_add(length).is_none_or(|end| end > body_length) {
        return Err(Error::Message(format!(
            "a buffer of {length} bytes at offset {offset} lies outside the message's body of {body_length} bytes"
        )));
    }
    if !offset.is_multiple_of(8) {
        return Err(Error::Message(format!(
            "a buffer begins at offset {offset}, which is not a multiple of 8"
        )));
    }
    Ok((offset, length))
}

fn non_negative(what: &str, value: i64) -> Result<u64, Error> {
    u64::try_from(value).map_err(|_| Error::Message(format!("the message's {what} is {value}")))
}
