//! Ranges of device memory that one kernel fills from others: what becomes of arrays that are put
//! together.

#[expect(unsafe_code, reason = "launches a kernel")]
mod kernel;
mod parts;

use crate::range::within;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use parts::Parts;

/// A range of a buffer, and where it comes from.  Positions are in bytes, and of [`Content::Bits`] and
/// [`Content::Ones`] in bits.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The buffer to fill.
    pub to: &'a DeviceBuffer,
    /// Where the range begins there.
    pub to_position: u64,
    /// The buffer of the elements.
    pub from: &'a DeviceBuffer,
    /// Where they begin there.
    pub from_position: u64,
    /// The number of elements.
    pub count: u64,
    /// What they are, and become.
    pub content: Content<'a>,
}

/// The elements of a [`Piece`].
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Bytes, which stay as they are.
    Bytes,
    /// Bits, likewise.
    Bits,
    /// Bits, which all become 1.
    Ones,
    /// Numbers without a sign, of `width` bytes: 1, 2, 4 or 8.
    Numbers {
        /// The size of each, in bytes.
        width: u64,
        /// What they become.
        becomes: Becomes<'a>,
    },
    /// Views of binary data, of 16 bytes: those of more than 12 bytes refer to a buffer whose number becomes
    /// larger by so much.
    Views(u32),
}

/// What numbers become.
#[derive(Clone, Copy, Debug)]
pub enum Becomes<'a> {
    /// The sum with `add`, which wraps around, but at most `most`.
    Sum {
        /// What is added.
        add: u64,
        /// The largest result.
        most: u64,
    },
    /// The sum with `add` where the byte beside the number, from `position` of `types` on, is `id`;
    /// elsewhere the target stays as it is.
    SumOfType {
        /// What is added.
        add: u64,
        /// The buffer with a byte for each number.
        types: &'a DeviceBuffer,
        /// Where the first one lies.
        position: u64,
        /// The byte of the numbers that change.
        id: u8,
    },
    /// The 32-bit number that this buffer holds at the number's place; 0 for one that leads outside.
    Entry(&'a DeviceBuffer),
}

/// Fills ranges of device memory in a context, all at once, and returns when that is done.  Bits before and
/// behind the ranges of a buffer, but within it, become 0 where its pieces are bits.
///
/// ```
/// use arrow_cuda_buffer::{Content, DeviceBuffer, Piece, join};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let [from, to] = [b"abcd", b"____"].map(|bytes| {
///     DeviceBuffer::adjacent_from_host(&context, &[bytes]).map(|buffers| buffers[0].clone())
/// });
/// let (from, to) = (from?, to?);
/// let piece = |to_position, from_position| Piece {
///     to: &to, to_position, from: &from, from_position, count: 2, content: Content::Bytes,
/// };
/// join(&context, &[piece(0, 2), piece(2, 0)])?;
/// assert_eq!(to.to_vec()?, b"cdab");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for buffers of another context and targets
/// that are not aligned (bits: a multiple of 4 bytes, and as many), or driver errors.
pub fn join(context: &Context, pieces: &[Piece<'_>]) -> Result<(), Error> {
    let mut parts = Parts::default();
    for piece in pieces {
        piece.check(context)?;
        parts.add(piece)?;
    }
    let joined = kernel::run(context, &parts, &targets_of_bits(pieces));
    joined.inspect_err(|_| {
        for piece in pieces {
            piece.buffers().for_each(DeviceBuffer::expose);
        }
    })
}

/// The targets of bits, whose pieces follow each other: words that two of them fill are cleared first.
fn targets_of_bits<'a>(pieces: &[Piece<'a>]) -> Vec<&'a DeviceBuffer> {
    let of_bits = pieces.iter().filter(|piece| piece.content.is_bits());
    let mut targets: Vec<_> = of_bits.map(|piece| piece.to).collect();
    targets.dedup_by_key(|target| target.private_address);
    targets
}

impl Content<'_> {
    fn is_bits(&self) -> bool {
        matches!(self, Self::Bits | Self::Ones)
    }

    /// The size of an element, in bits.
    fn size(&self) -> u64 {
        match self {
            Self::Bytes => 8,
            Self::Bits | Self::Ones => 1,
            Self::Numbers { width, .. } => 8 * width,
            Self::Views(_) => 128,
        }
    }
}

impl<'a> Piece<'a> {
    /// The buffers that it reads and writes.
    fn buffers(&self) -> impl Iterator<Item = &'a DeviceBuffer> {
        let beside = match self.content {
            Content::Numbers { becomes: Becomes::SumOfType { types, .. }, .. } => Some(types),
            Content::Numbers { becomes: Becomes::Entry(map), .. } => Some(map),
            _ => None,
        };
        [self.to, self.from].into_iter().chain(beside)
    }

    /// Checks all that the kernel relies on.
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.to.check_mutable()?;
        for buffer in self.buffers() {
            if !buffer.context().is_same(context) {
                return Err(Error::Invalid("a buffer belongs to another context".into()));
            }
            buffer.check_memory()?;
        }
        let unit = if self.content.is_bits() { 1 } else { 8 };
        let size = self.content.size() / unit;
        let length = self.count.saturating_mul(size);
        let all = |buffer: &DeviceBuffer| buffer.size.saturating_mul(8 / unit);
        within(self.to_position, length, all(self.to))?;
        if !matches!(self.content, Content::Ones) {
            within(self.from_position, length, all(self.from))?;
        }
        if let Content::Numbers { becomes: Becomes::SumOfType { types, position, .. }, .. } =
            self.content
        {
            within(position, self.count, types.size)?;
        }
        let is_aligned = match self.content {
            Content::Bytes => true,
            Content::Bits | Content::Ones => {
                (self.to.private_address | self.to.size).is_multiple_of(4)
            }
            Content::Numbers { width, .. } => {
                matches!(width, 1 | 2 | 4 | 8)
                    && (self.to.private_address + self.to_position).is_multiple_of(width)
            }
            Content::Views(_) => (self.to.private_address + self.to_position).is_multiple_of(16),
        };
        if is_aligned { Ok(()) } else { Err(Error::Invalid("a target is not aligned".into())) }
    }
}
