//! Buffers in a file or stream, and how they are compressed there.

use crate::Error;

/// How a buffer is compressed.
///
/// The variants have the numbers that the metadata of messages has:
///
/// ```
/// use arrow_cuda_ipc::Codec;
/// use arrow_ipc::CompressionType;
///
/// assert_eq!(Codec::Lz4 as i32, CompressionType::LZ4_FRAME.0.into());
/// assert_eq!(Codec::Zstd as i32, CompressionType::ZSTD.0.into());
/// ```
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// A frame of LZ4.
    Lz4 = 0,
    /// A frame of ZSTD.
    Zstd = 1,
}

impl Codec {
    /// The most bytes that one byte may become.
    pub(crate) fn most(self) -> u64 {
        match self {
            Self::Lz4 => 255,
            Self::Zstd => 32 << 10, // 4 bytes for a block of 128 KiB
        }
    }
}

/// A buffer of a message's body, and the place of its bytes in the file or stream.
///
/// ```
/// # #[cfg(feature = "arrays")] {
/// use arrow_array::record_batch;
/// use arrow_cuda_ipc::{BodyBuffer, MessageIndex, Source};
/// use arrow_ipc::writer::StreamWriter;
///
/// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
/// let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
/// writer.write(&batch)?;
/// let stream = writer.into_inner()?;
/// let messages = MessageIndex::read(&Source::Memory(&stream))?.expect("no delta dictionaries");
/// let numbers: &BodyBuffer = messages.buffer(messages.all()[1].body.0, 24)?;
/// assert_eq!((numbers.encoded_size, numbers.codec), (24, None)); // not compressed
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyBuffer {
    /// Its address in the reserved range of [`MessageIndex`](crate::MessageIndex).
    pub address: u64,
    /// The size, in bytes, once decompressed.
    pub size: u64,
    /// Where its bytes begin in the file.
    pub position: u64,
    /// The number of bytes in the file.
    pub encoded_size: u64,
    /// How they are compressed; `None` if they are not.
    pub codec: Option<Codec>,
}

impl BodyBuffer {
    pub(crate) const EMPTY: Self =
        Self { address: 0, size: 0, position: 0, encoded_size: 0, codec: None };
}

/// The buffers of bodies, and the reasons why some cannot be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyBuffers {
    /// Those that have bytes, by ascending address.
    readable: Vec<BodyBuffer>,
    unreadable: Vec<(u64, Error)>,
}

impl BodyBuffers {
    /// The size of each buffer that cannot be read.  It suffices for any array, so that reading fails with the reason.
    const UNREADABLE: u64 = 1 << 36;

    /// Adds a buffer, or the reason why the one at this address cannot be read, and returns its size.  Addresses
    /// ascend.
    pub(crate) fn add(&mut self, address: u64, found: Result<BodyBuffer, Error>) -> u64 {
        match found {
            Ok(buffer) => {
                if buffer.size > 0 {
                    self.readable.push(BodyBuffer { address, ..buffer });
                }
                buffer.size
            }
            Err(reason) => {
                self.unreadable.push((address, reason));
                Self::UNREADABLE
            }
        }
    }

    /// The buffer of this size at an address; anything if it has no bytes.
    pub(crate) fn at(&self, address: u64, size: u64) -> Result<&BodyBuffer, Error> {
        if size == 0 {
            return Ok(&BodyBuffer::EMPTY);
        }
        let found = self.readable.binary_search_by_key(&address, |buffer| buffer.address);
        let found = found.ok().and_then(|at| self.readable.get(at));
        found.filter(|buffer| buffer.size == size).ok_or_else(|| {
            let reason = self.unreadable.iter().find(|(place, _)| *place == address);
            reason.map_or_else(
                || {
                    Error::Message(format!(
                        "no message has a buffer of {size} bytes at {address:#x}"
                    ))
                },
                |(_, reason)| reason.clone(),
            )
        })
    }
}
