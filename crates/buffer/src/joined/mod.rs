//! One kernel fills ranges of device memory from others, as `arrow-cuda-layout` plans it to concatenate arrays.

mod ends;
#[expect(unsafe_code, reason = "launches a kernel")]
mod kernel;
mod parts;

use crate::error::invalid;
use crate::suballocated_copies::gaps;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_layout::JoinPiece;
use ends::Ends;
use parts::Parts;

/// Fills parts of the buffers `to` in a context, all at once, and returns when that is done.  The pieces name
/// these and their sources by number.  What lies around bits in a buffer becomes 0.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, join};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_layout::{Change, JoinPiece};
///
/// let context = Context::primary(0)?;
/// let to = DeviceBuffer::suballocate(&context, &[4])?;
/// let from = DeviceBuffer::suballocated_from_host(&context, &[b"abcd"])?;
/// let piece = |to_position, from_position| JoinPiece {
///     to: 0, to_position, from: 0, from_position, count: 2, change: Change::Bytes,
/// };
/// join(&context, &to, &[Some(&from[0])], &[piece(0, 2), piece(2, 0)])?;
/// assert_eq!(to[0].to_vec()?, b"cdab");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for numbers without a buffer, buffers of
/// another context and targets that are not aligned (bits: 4 bytes, and so is the size), or driver errors.
pub fn join(
    context: &Context,
    to: &[DeviceBuffer],
    from: &[Option<&DeviceBuffer>],
    pieces: &[JoinPiece],
) -> Result<(), Error> {
    join_and_clear(context, to, from, pieces, &[])
}

/// As [`join`], into buffers that were just allocated together: what lies between them becomes 0, too, since it holds
/// bytes of earlier buffers, which whoever can read the allocation would see.
///
/// Nothing is queued before all of it is checked, and nothing is queued any more when this returns.  So a caller may
/// drop the buffers at any point.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, join_into_new};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_layout::{Change, JoinPiece};
///
/// let context = Context::primary(0)?;
/// let from = DeviceBuffer::gathered(&context, &[b"abcd"])?;
/// let to = DeviceBuffer::suballocate(&context, &[1, 3])?;
/// let piece = |to, from_position, count| JoinPiece {
///     to, to_position: 0, from: 0, from_position, count, change: Change::Bytes,
/// };
/// join_into_new(&context, &to, &[Some(&from)], &[piece(0, 0, 1), piece(1, 1, 3)])?;
/// assert_eq!(to[1].to_vec()?, b"bcd");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// As [`join`].
pub fn join_into_new(
    context: &Context,
    to: &[DeviceBuffer],
    from: &[Option<&DeviceBuffer>],
    pieces: &[JoinPiece],
) -> Result<(), Error> {
    join_and_clear(context, to, from, pieces, &gaps(to))
}

fn join_and_clear(
    context: &Context,
    to: &[DeviceBuffer],
    from: &[Option<&DeviceBuffer>],
    pieces: &[JoinPiece],
    gaps: &[(u64, usize)],
) -> Result<(), Error> {
    let mut parts = Parts::default();
    let mut of_bits: Vec<&DeviceBuffer> = Vec::new();
    if to.iter().any(|buffer| !buffer.context().is_same(context)) {
        return invalid("a buffer belongs to another context");
    }
    for piece in pieces {
        let ends = Ends::of(piece, to, from)?;
        ends.check(piece, context)?;
        parts.add(piece, &ends);
        // Pieces of a buffer follow each other.
        let last = of_bits.last().map(|last| last.private_address);
        if piece.change.is_of_bits() && last != Some(ends.to.private_address) {
            of_bits.push(ends.to);
        }
    }
    let words = of_bits.iter().map(|target| (target.private_address, target.size));
    let cleared: Vec<_> = gaps.iter().copied().chain(words).collect();
    kernel::run(context, &parts, &cleared).inspect_err(|_| {
        to.iter().chain(from.iter().copied().flatten()).for_each(DeviceBuffer::expose);
    })
}
