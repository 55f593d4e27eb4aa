//! The layout of an encapsulated message.  Pure.
//!
//! A message consists of the marker 0xFFFFFFFF, the metadata's length (4 bytes, little endian), the
//! metadata, and the body.  Before format 0.15 there was no marker.  A length of 0 ends a stream.

use crate::Error;

/// The layout that the first bytes of a message describe.
///
/// ```
/// use arrow_cuda_ipc::Frame;
///
/// let prefix = [0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0];
/// let frame = Frame::parse(&prefix, 100)?;
/// assert_eq!((frame.metadata_offset, frame.metadata_length), (8, 16));
/// assert!(Frame::parse(&prefix, 20).is_err()); // shorter than it says
/// # Ok::<(), arrow_cuda_ipc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Where the metadata begins, in bytes from the message's start.
    pub metadata_offset: u64,
    /// The metadata's length, in bytes, padding included.
    pub metadata_length: u64,
}

/// How many bytes [`Frame::parse`] needs; fewer if the message is shorter.
pub const PREFIX: usize = 8;

const MARKER: u32 = 0xFFFF_FFFF;

impl Frame {
    /// Reads the first bytes of a message that is `size` bytes long altogether.
    ///
    /// ```
    /// use arrow_cuda_ipc::{Frame, PREFIX};
    ///
    /// let mut message = vec![0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0];
    /// message.extend([0; 16 + 24]); // metadata, and a body
    /// let frame = Frame::parse(&message[..PREFIX], message.len() as u64)?;
    /// assert_eq!(frame.metadata_length, 16);
    /// # Ok::<(), arrow_cuda_ipc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In libarrow's words: [`Error::EndOfStream`] at the end of a stream, or for no bytes;
    /// [`Error::Message`] when they end within the metadata; [`Error::Unreadable`] for a negative
    /// length.
    pub fn parse(prefix: &[u8], size: u64) -> Result<Self, Error> {
        let word = |at: usize| {
            prefix.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
        };
        let (length, metadata_offset) = match word(0) {
            None if prefix.is_empty() => return Err(Error::EndOfStream),
            None => {
                return Err(Error::Message(format!(
                    "Corrupted message, only {size} bytes available"
                )));
            }
            Some(MARKER) => match word(4) {
                Some(length) => (length, 8),
                None => {
                    let rest = size.saturating_sub(4);
                    return Err(Error::Message(format!(
                        "Corrupted metadata length, only {rest} bytes available"
                    )));
                }
            },
            Some(length) => (length, 4),
        };
        if length == 0 {
            return Err(Error::EndOfStream);
        }
        if i32::try_from(length).is_err() {
            let text = "Invalid IPC message: negative metadata length";
            return Err(Error::Unreadable(text.into()));
        }
        let metadata_length = u64::from(length);
        if metadata_offset + metadata_length > size {
            return Err(Error::Message(format!(
                "Expected to read {metadata_length} metadata bytes, but only read {}",
                size - metadata_offset
            )));
        }
        Ok(Self { metadata_offset, metadata_length })
    }

    /// The metadata of a message that begins with the bytes `first`, at least as many as [`parse`](Self::parse)
    /// needs; `read` gets bytes after them by their offset and number.
    pub(crate) fn metadata(
        &self,
        mut first: Vec<u8>,
        read: impl FnOnce(u64, u64) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        if self.body_offset() > first.len() as u64 {
            return read(self.metadata_offset, self.metadata_length);
        }
        first.truncate(self.body_offset() as usize);
        first.drain(..self.metadata_offset as usize);
        Ok(first)
    }

    /// Where the body begins.
    ///
    /// ```
    /// use arrow_cuda_ipc::Frame;
    ///
    /// let frame = Frame::parse(&[0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0], 100)?;
    /// assert_eq!(frame.body_offset(), 8 + 16);
    /// # Ok::<(), arrow_cuda_ipc::Error>(())
    /// ```
    pub fn body_offset(&self) -> u64 {
        self.metadata_offset + self.metadata_length
    }
}
