//! The messages of an Arrow file or stream whose bodies are not read yet.

use crate::Error;
use crate::body_buffer::{BodyBuffer, BodyBuffers};
use crate::frame::Frame;
use crate::metadata::{MessageKind, Metadata};
use crate::outline::{MessageLocation, blocks, schema_message};
use crate::plain::PlainMessage;
use arrow_cuda_buffer::{Error as BufferError, read_at};
use flatbuffers::InvalidFlatbuffer;
use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;

/// The bytes of an Arrow file or stream.
///
/// ```
/// use arrow_cuda_ipc::Source;
/// use std::fs::File;
/// use std::os::fd::AsFd;
///
/// let file = File::open(std::env::current_exe()?)?;
/// let source = Source::File { file: file.as_fd(), size: file.metadata()?.len() };
/// let mut magic = [0; 4];
/// source.read(0, &mut magic)?;
/// assert_eq!(&magic, b"\x7fELF"); // this program's, which is no Arrow file
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The bytes of a file.
    File {
        /// It is open for reading; its own position does not matter.
        file: BorrowedFd<'a>,
        /// The number of bytes.
        size: u64,
    },
    /// Bytes in host memory.
    Memory(&'a [u8]),
}

impl Source<'_> {
    /// The number of bytes.
    ///
    /// ```
    /// use arrow_cuda_ipc::Source;
    ///
    /// assert_eq!(Source::Memory(&[0; 100]).size(), 100);
    /// ```
    pub fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `out` with the bytes from `position` on.
    ///
    /// ```
    /// use arrow_cuda_ipc::Source;
    ///
    /// let (source, mut out) = (Source::Memory(b"ARROW1"), [0; 2]);
    /// source.read(4, &mut out)?;
    /// assert_eq!(&out, b"W1");
    /// assert!(source.read(5, &mut out).is_err());
    /// # Ok::<(), arrow_cuda_ipc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Buffer`] when the file cannot be read; [`Error::Message`] when the bytes end before.
    pub fn read(&self, position: u64, out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::File { file, .. } => {
                read_at(file, position, out).map_err(|error| BufferError::Read(error).into())
            }
            Self::Memory(bytes) => {
                let begin = usize::try_from(position).unwrap_or(usize::MAX);
                let found = begin.checked_add(out.len()).and_then(|end| bytes.get(begin..end));
                out.copy_from_slice(found.ok_or_else(|| {
                    Error::Message(format!("{} bytes end before byte {position}", bytes.len()))
                })?);
                Ok(())
            }
        }
    }

    fn part(&self, position: u64, size: u64) -> Result<Vec<u8>, Error> {
        if position.checked_add(size).is_none_or(|end| end > self.size()) {
            return Err(Error::Unreadable(format!(
                "the file has {} bytes, not {size} from byte {position} on",
                self.size()
            )));
        }
        let mut bytes = vec![0; size as usize];
        self.read(position, &mut bytes)?;
        Ok(bytes)
    }
}

/// The messages of an Arrow file or stream: the schema, then dictionaries and record batches.
///
/// Nothing but metadata is read.  Each body gets addresses in a range where no memory is, so that a program can slice
/// arrays over it first, then [look up](Self::buffer) the buffers that it needs, and read only those:
///
/// ```
/// # #[cfg(feature = "arrays")] {
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use arrow_cuda_ipc::{Source, MessageIndex};
/// use arrow_ipc::writer::FileWriter;
/// use std::sync::Arc;
///
/// let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("x", column)])?;
/// let mut writer = FileWriter::try_new(Vec::new(), &batch.schema())?;
/// writer.write(&batch)?;
/// let file = writer.into_inner()?;
///
/// let messages = MessageIndex::read(&Source::Memory(&file))?.expect("no delta dictionaries");
/// assert_eq!(messages.all().len(), 2); // the schema, and a record batch
/// let (body, _size) = messages.all()[1].body;
/// let numbers = messages.buffer(body, 24)?;
/// assert_eq!(file[numbers.position as usize..][..8], 1i64.to_ne_bytes());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageIndex {
    all: Vec<PlainMessage>,
    buffers: BodyBuffers,
}

/// A message that was added: where its body begins in the file, and where it ends.
struct ReadMessage {
    kind: MessageKind,
    body: u64,
    end: u64,
}

const FILE_MAGIC: &[u8] = b"ARROW1";
/// The end of a file: the footer's length, then the magic.
const TRAILER: u64 = 4 + FILE_MAGIC.len() as u64;
/// How much of a message is read at once: all of most metadata.
const FIRST: u64 = 4 << 10;
/// No device and no host has memory there.
const BODIES: u64 = 1 << 56;

impl MessageIndex {
    /// Reads the metadata of all messages.  `None` if libarrow has to read it on the host: with delta
    /// dictionaries, the other byte order, nulls that nobody has counted, or compression as Arrow 0.17 wrote it, and
    /// for files with what it refuses: a second dictionary in place of the first one, and a footer that contradicts
    /// the messages.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_cuda_ipc::{MessageIndex, Source};
    /// use arrow_ipc::writer::StreamWriter;
    /// use arrow_schema::Schema;
    ///
    /// let stream = StreamWriter::try_new(Vec::new(), &Schema::empty())?.into_inner()?;
    /// let messages = MessageIndex::read(&Source::Memory(&stream))?;
    /// assert_eq!(messages.expect("no delta dictionaries").all().len(), 1); // the schema
    /// assert!(MessageIndex::read(&Source::Memory(b"some text")).is_err());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Message`] or [`Error::Unreadable`] when the file is damaged or something else; [`Error::EndOfStream`]
    /// when it has no bytes; [`Error::Buffer`] when it cannot be read.
    pub fn read(source: &Source<'_>) -> Result<Option<Self>, Error> {
        let mut messages = Self::default();
        let mut begin = [0; FILE_MAGIC.len()];
        let count = begin.len().min(source.size() as usize);
        source.read(0, begin.get_mut(..count).unwrap_or_default())?;
        let is_supported = if begin == FILE_MAGIC {
            messages.read_file(source)?
        } else {
            messages.read_stream(source).map_err(|error| match error {
                _ if begin.starts_with(&[0xFF; 4]) || count == 0 => error,
                error => Error::Message(format!(
                    "neither an Arrow file nor a stream: it begins with {:?} ({error})",
                    String::from_utf8_lossy(&begin)
                )),
            })?
        };
        Ok(is_supported.then_some(messages))
    }

    /// The messages.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_ipc::{MessageIndex, Source};
    /// use arrow_ipc::writer::StreamWriter;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    /// writer.write(&batch)?;
    /// let stream = writer.into_inner()?;
    /// let messages = MessageIndex::read(&Source::Memory(&stream))?.expect("no delta dictionaries");
    /// let [schema, batch] = messages.all() else { panic!("two messages") };
    /// assert!(schema.body.1 == 0 && batch.body.1 >= 24); // bytes
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn all(&self) -> &[PlainMessage] {
        &self.all
    }

    /// The buffer of this size at an address; anything if it has no bytes.
    ///
    /// ```
    /// # #[cfg(feature = "arrays")] {
    /// use arrow_array::record_batch;
    /// use arrow_cuda_ipc::{MessageIndex, Source};
    /// use arrow_ipc::writer::StreamWriter;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    /// writer.write(&batch)?;
    /// let stream = writer.into_inner()?;
    /// let messages = MessageIndex::read(&Source::Memory(&stream))?.expect("no delta dictionaries");
    /// let (body, _size) = messages.all()[1].body;
    /// let numbers = messages.buffer(body, 24)?;
    /// assert_eq!(stream[numbers.position as usize..][..8], 1i64.to_ne_bytes());
    /// assert!(messages.buffer(body, 16).is_err(), "it has another size");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Message`] if no message has it, or it lies outside its message's body, or its compressed bytes cannot
    /// be of that size; [`Error::Buffer`] if the file could not be read there.
    pub fn buffer(&self, address: u64, size: u64) -> Result<&BodyBuffer, Error> {
        self.buffers.at(address, size)
    }

    fn read_stream(&mut self, source: &Source<'_>) -> Result<bool, Error> {
        let mut position = 0;
        loop {
            match self.read_message(source, position) {
                Ok(Some(read)) => position = read.end,
                Ok(None) => return Ok(false),
                Err(Error::EndOfStream) if position > 0 => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    fn read_file(&mut self, source: &Source<'_>) -> Result<bool, Error> {
        let size = source.size();
        let cut_off = || {
            Error::Unreadable(format!(
                "the file of {size} bytes is cut off: its end is missing, which closing the writer writes; write or \
                 copy the file again"
            ))
        };
        let trailer = source.part(size.checked_sub(TRAILER).ok_or_else(cut_off)?, TRAILER)?;
        let (length, magic) = trailer.split_at_checked(4).ok_or_else(cut_off)?;
        if magic != FILE_MAGIC {
            return Err(cut_off());
        }
        let length = length.try_into().map_or(0, u32::from_le_bytes);
        let footer = (size - TRAILER).checked_sub(u64::from(length)).ok_or_else(cut_off)?;
        let footer = source.part(footer, u64::from(length))?;
        let is_swapped = MessageKind::Schema { is_swapped: true };
        if Metadata::parse_footer(&footer)?.kind == is_swapped {
            return Ok(false);
        }
        let damaged = |error: InvalidFlatbuffer| Error::Message(format!("invalid footer: {error}"));
        let schema = schema_message(&footer).map_err(damaged)?;
        self.all.push(PlainMessage::of_schema(schema, BODIES));
        let mut known = BTreeSet::new();
        for (list, places) in blocks(&footer).map_err(damaged)?.into_iter().enumerate() {
            for MessageLocation { position, body_offset, body_length } in places {
                let Some(read) = self.read_message(source, position)? else { return Ok(false) };
                match (list, read.kind) {
                    // All batches of a file have the same dictionaries.
                    (0, MessageKind::Dictionary { id, .. }) if !known.insert(id) => {
                        return Ok(false);
                    }
                    (0, MessageKind::Dictionary { .. }) | (1, MessageKind::Batch) => {}
                    // Skipped, its rows would be lost.
                    _ => {
                        return Err(Error::Message(format!(
                            "invalid footer: one of its lists leads to byte {position}, where a message of another \
                             kind begins"
                        )));
                    }
                }
                let lengths = (read.body - position, read.end - read.body);
                let said = (body_offset.cast_unsigned(), body_length.cast_unsigned());
                if said != lengths || !position.is_multiple_of(8) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Adds the message at `position`; `None` if libarrow has to read it.
    fn read_message(
        &mut self,
        source: &Source<'_>,
        position: u64,
    ) -> Result<Option<ReadMessage>, Error> {
        let rest = source.size().saturating_sub(position);
        let first = source.part(position, rest.min(FIRST))?;
        let frame = Frame::parse(&first, rest)?;
        let metadata =
            frame.metadata(first, |offset, size| source.part(position + offset, size))?;
        let facts = Metadata::parse(&metadata)?;
        facts.check(rest - frame.body_offset())?;
        if !facts.is_counted() {
            return Ok(None);
        }
        let body = position + frame.body_offset();
        let address = self.all.last().map_or(BODIES, |last| last.body.0 + last.body.1);
        let made = match facts.kind {
            MessageKind::Schema { is_swapped: false } => PlainMessage::of_schema(metadata, address),
            MessageKind::Batch | MessageKind::Dictionary { is_delta: false, .. } => {
                let prefix = |at| {
                    let mut prefix = [0; 8];
                    source.read(body + at, &mut prefix).map(|()| i64::from_le_bytes(prefix))
                };
                match PlainMessage::of(&metadata, address, body, prefix, &mut self.buffers)? {
                    Some(message) => message,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        self.all.push(made);
        Ok(Some(ReadMessage { kind: facts.kind, body, end: body + facts.body_length }))
    }
}
