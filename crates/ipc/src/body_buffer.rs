//! Buffers in a file or stream, and how they are compressed there.

/// How a buffer is compressed.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
