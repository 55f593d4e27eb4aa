//! Arrays on a device that become one, for C++.

use super::batch_copies::{all, borrowed, store};
use super::context;
use crate::fault::{Fault, attempt, attempted};
use crate::ffi::{ArrayNode, BufferPlace, Failure, Joined, OffsetReader, Outcome, RustBuffer};
use crate::kind::Kind;
use arrow_cuda_buffer::{Becomes, Content, Piece};
use arrow_cuda_layout::{Change, Join, JoinError, JoinPiece, Reads, reach};

#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn join(
    device: i32,
    arrays: *const ArrayNode,
    count: usize,
    columns: *const usize,
    column_count: usize,
    buffers: *const *const RustBuffer,
    sizes: *const u64,
    buffer_count: usize,
    reader: OffsetReader,
    joined: *mut Joined,
    made: *mut BufferPlace,
) -> Outcome<usize> {
    let work = || {
        // SAFETY: C++ passes so many of each; buffers that are not null are live.
        let (arrays, columns, sizes, buffers) = unsafe {
            let buffers: Vec<_> =
                all(buffers, buffer_count).iter().map(|buffer| buffer.as_ref()).collect();
            (all(arrays, count), all(columns, column_count), all(sizes, buffer_count), buffers)
        };
        let found = reach(arrays, sizes, Reads::ToJoin, |wanted, out| reader.read(wanted, out))?
            .ok_or_else(|| Fault::from(JoinError::Invalid))?;
        let plan = arrow_cuda_layout::join(arrays, columns, &found)?;
        let made_buffers = fill(device, &buffers, &plan)?;
        let number = made_buffers.len();
        // SAFETY: there is room for an answer for each array, of which the result has no more, and for
        // the buffers of these.
        unsafe {
            joined.copy_from_nonoverlapping(plan.arrays.as_ptr(), plan.arrays.len());
            store(made, made_buffers);
        }
        Ok(number)
    };
    attempt(work)
}

/// The buffers of the result.
fn fill(
    device: i32,
    buffers: &[Option<&RustBuffer>],
    plan: &Join,
) -> Result<Vec<RustBuffer>, Fault> {
    let context = match buffers.iter().flatten().next() {
        Some(buffer) => buffer.context().clone(),
        None => context(device)?,
    };
    let made = RustBuffer::allocate_adjacent(&context, &plan.sizes)?;
    let piece = |piece: &JoinPiece| piece_of(piece, buffers, &made);
    let pieces: Option<Vec<_>> = plan.pieces.iter().map(piece).collect();
    let pieces = pieces.ok_or_else(|| Fault::from(JoinError::Invalid))?;
    arrow_cuda_buffer::join(&context, &pieces)?;
    Ok(made)
}

fn piece_of<'a>(
    piece: &JoinPiece,
    buffers: &[Option<&'a RustBuffer>],
    made: &'a [RustBuffer],
) -> Option<Piece<'a>> {
    let to = made.get(piece.to)?;
    let source = |number: usize| buffers.get(number).copied().flatten();
    let from = if piece.change == Change::Ones { to } else { source(piece.from)? };
    let content = match piece.change {
        Change::Bytes => Content::Bytes,
        Change::Bits => Content::Bits,
        Change::Ones => Content::Ones,
        Change::Views(add) => Content::Views(add),
        Change::Sum { width, add, most } => {
            Content::Numbers { width, becomes: Becomes::Sum { add, most } }
        }
        Change::SumOfType { add, types, position, id } => {
            let types = source(types)?;
            Content::Numbers { width: 4, becomes: Becomes::SumOfType { add, types, position, id } }
        }
    };
    let JoinPiece { to_position, from_position, count, .. } = *piece;
    Some(Piece { to, to_position, from, from_position, count, content })
}

pub(super) unsafe extern "C" fn change_numbers(
    buffers: *const *const RustBuffer,
    widths: *const u64,
    bases: *const u64,
    maps: *const *const RustBuffer,
    count: usize,
) -> Failure {
    let work = || {
        // SAFETY: C++ passes `count` live buffers, and as many of what is not null.
        let (buffers, widths) = unsafe { (borrowed(buffers, count), all(widths, count)) };
        let Some(first) = buffers.first() else { return Ok(()) };
        let mut becomes = Vec::with_capacity(count);
        if maps.is_null() {
            // SAFETY: as above.
            let bases = unsafe { all(bases, count) };
            let sum = |base: &u64| Becomes::Sum { add: base.wrapping_neg(), most: u64::MAX };
            becomes.extend(bases.iter().map(sum));
        } else {
            // SAFETY: as above.
            let maps = unsafe { borrowed(maps, count) };
            becomes.extend(maps.into_iter().map(Becomes::Entry));
        }
        let changes = buffers.iter().zip(widths).zip(becomes);
        let pieces: Vec<_> = changes
            .filter(|((_, width), _)| **width > 0)
            .map(|((buffer, width), becomes)| Piece {
                to: buffer,
                to_position: 0,
                from: buffer,
                from_position: 0,
                count: buffer.size() / width,
                content: Content::Numbers { width: *width, becomes },
            })
            .collect();
        Ok(arrow_cuda_buffer::join(first.context(), &pieces)?)
    };
    attempted(work)
}

impl From<JoinError> for Fault {
    fn from(error: JoinError) -> Self {
        let text = match error {
            JoinError::Overflow => {
                "offset overflow while concatenating arrays: consider casting to the large type first, \
                 on the host"
            }
            JoinError::Invalid => "the arrays contradict themselves or each other",
        };
        Self::new(Kind::Invalid, text)
    }
}
