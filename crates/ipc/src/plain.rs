//! A message as if its body had never been compressed.
//!
//! Arrow compresses each buffer by itself.  8 bytes before the buffer have its size, or -1 if it is not compressed.  So
//! the sizes of all buffers are known before any is decompressed.

use crate::Error;
use crate::body_buffer::{BodyBuffer, BodyBuffers, Codec};
use crate::encode::{Arrays, Dictionary};
use crate::metadata::range_in_body;
use crate::outline::{Header, Outline};
use arrow_ipc::{Buffer, CompressionType};

/// A message, and where its body would be.
///
/// ```
/// # #[cfg(feature = "arrays")] {
/// use arrow_cuda_ipc::{MessageIndex, MessageKind, Metadata, PlainMessage, Source};
/// use arrow_ipc::writer::FileWriter;
/// use arrow_schema::Schema;
///
/// let file = FileWriter::try_new(Vec::new(), &Schema::empty())?.into_inner()?;
/// let messages = MessageIndex::read(&Source::Memory(&file))?.expect("no delta dictionaries");
/// let PlainMessage { metadata, .. } = &messages.all()[0];
/// assert_eq!(Metadata::parse(metadata)?.kind, MessageKind::Schema { is_swapped: false });
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlainMessage {
    /// The metadata, without compression.
    pub metadata: Vec<u8>,
    /// The address of the body and its size, in bytes.
    pub body: (u64, u64),
}

/// Where buffers begin in a body, in bytes.
const ALIGNMENT: u64 = 64;
/// Where the addresses of all bodies end.
const END: u64 = 1 << 57;
/// The prefix of a compressed buffer.
const PREFIX: u64 = 8;

impl PlainMessage {
    /// A message without a body.
    pub(crate) fn of_schema(metadata: Vec<u8>, address: u64) -> Self {
        Self { metadata, body: (address, 0) }
    }

    /// A batch or a dictionary whose body is at `position` in a file, and is to be at `address`; `None` if
    /// its compression is unusual, or a buffer of a dictionary lies elsewhere.  Adds its buffers to `buffers`.
    /// `prefix` reads one at an offset in the body.
    pub(crate) fn of(
        metadata: &[u8],
        address: u64,
        position: u64,
        prefix: impl Fn(u64) -> Result<i64, Error>,
        buffers: &mut BodyBuffers,
    ) -> Result<Option<Self>, Error> {
        let outline = Outline::of(metadata).map_err(|error| Error::Message(error.to_string()))?;
        let (batch, dictionary) = match &outline.header {
            Header::Batch(batch) => (Some(*batch), None),
            Header::Dictionary(dictionary) => (dictionary.data(), Some(dictionary)),
            _ => return Ok(None),
        };
        let Some(batch) = batch else { return Ok(None) };
        let codec = match batch.compression().map(|compression| compression.codec()) {
            None if outline.is_early_version() => return Ok(None),
            None => None,
            Some(CompressionType::LZ4_FRAME) => Some(Codec::Lz4),
            Some(CompressionType::ZSTD) => Some(Codec::Zstd),
            Some(_) => return Ok(None),
        };
        let body_length = outline.body_length.cast_unsigned();
        let find = |buffer: &Buffer| {
            let (offset, size) = range_in_body(buffer, body_length)?;
            let position = position + offset;
            let found = BodyBuffer { size, position, encoded_size: size, ..BodyBuffer::EMPTY };
            match codec {
                Some(codec) if size > 0 => found.compressed(codec, size, || prefix(offset)),
                _ => Ok(found),
            }
        };
        let (mut places, mut end) = (Vec::new(), 0u64);
        for buffer in batch.buffers().into_iter().flatten() {
            let found = find(buffer);
            if found.is_err() && dictionary.is_some() {
                return Ok(None); // no array may ask for it, and libarrow reads it at once
            }
            let size = buffers.add(address + end, found);
            places.push(Buffer::new(end.cast_signed(), size.cast_signed()));
            let next = end.saturating_add(size).next_multiple_of(ALIGNMENT);
            end = Some(next)
                .filter(|end| address.saturating_add(*end) < END)
                .ok_or_else(|| Error::Message("the buffers are larger than any memory".into()))?;
        }
        let counts = batch.variadicBufferCounts();
        let arrays = Arrays {
            length: batch.length(),
            nodes: batch.nodes().into_iter().flatten().copied().collect(),
            buffers: places,
            view_buffers: counts.map(|counts| counts.iter().collect()),
            body_length: end,
        };
        let dictionary = dictionary.map(|it| Dictionary { id: it.id(), is_delta: it.isDelta() });
        let metadata = arrays.encode(outline.version, dictionary);
        Ok(Some(Self { metadata, body: (address, end) }))
    }
}

impl BodyBuffer {
    /// The buffer with the size and the codec that its prefix tells.
    fn compressed(
        self,
        codec: Codec,
        encoded_size: u64,
        prefix: impl FnOnce() -> Result<i64, Error>,
    ) -> Result<Self, Error> {
        let Some(encoded_size) = encoded_size.checked_sub(PREFIX) else {
            return Err(Error::Message(format!(
                "a compressed buffer of {encoded_size} bytes lacks its size"
            )));
        };
        let found = Self { position: self.position + PREFIX, encoded_size, ..self };
        match prefix()? {
            -1 => Ok(Self { size: encoded_size, ..found }),
            size => u64::try_from(size)
                .ok()
                .filter(|size| *size <= encoded_size.saturating_mul(codec.most()))
                .map(|size| Self { size, codec: Some(codec), ..found })
                .ok_or_else(|| {
                    Error::Message(format!(
                        "{encoded_size} bytes of {codec:?} cannot be a buffer of {size} bytes"
                    ))
                }),
        }
    }
}
