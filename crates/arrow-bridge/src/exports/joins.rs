//! Arrays on a device that become one, for C++.

use super::batch_copies::{all, borrowed, store};
use super::context;
use crate::fault::{Fault, attempt, attempted};
use crate::ffi::{ArrayNode, BufferPlace, Failure, Joined, OffsetReader, Outcome, RustBuffer};
use crate::kind::Kind;
use arrow_cuda_buffer::{clear_gaps, join as fill};
use arrow_cuda_layout::{Change, JoinError, JoinPiece, Reads, reach};

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
        let context = match buffers.iter().flatten().next() {
            Some(buffer) => buffer.context().clone(),
            None => context(device)?,
        };
        let result = RustBuffer::allocate_adjacent(&context, &plan.sizes)?;
        clear_gaps(&context, &result)?;
        fill(&context, &result, &buffers, &plan.pieces)?;
        let number = result.len();
        // SAFETY: there is room for an answer for each array, of which the result has no more, and for
        // the buffers of these.
        unsafe {
            joined.copy_from_nonoverlapping(plan.arrays.as_ptr(), plan.arrays.len());
            store(made, result);
        }
        Ok(number)
    };
    attempt(work)
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
        let to: Vec<RustBuffer> = buffers.iter().copied().cloned().collect();
        let mut from: Vec<_> = buffers.iter().copied().map(Some).collect();
        // SAFETY: as above.
        let bases = if bases.is_null() { &[] } else { unsafe { all(bases, count) } };
        if !maps.is_null() {
            // SAFETY: as above.
            from.extend(unsafe { borrowed(maps, count) }.into_iter().map(Some));
        }
        let piece = |number: usize| {
            let width = widths.get(number).copied().filter(|width| *width > 0)?;
            let change = match bases.get(number) {
                Some(base) => Change::Sum { width, add: base.wrapping_neg(), most: u64::MAX },
                None => Change::Entry { width, map: count + number },
            };
            let count = to.get(number)?.size() / width;
            let (to_position, from_position) = (0, 0);
            Some(JoinPiece { to: number, to_position, from: number, from_position, count, change })
        };
        let pieces: Vec<_> = (0..count).filter_map(piece).collect();
        Ok(fill(first.context(), &to, &from, &pieces)?)
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
