//! Plans of `arrow-cuda-layout` for C++: the parts of buffers that slices reach, and how arrays on a device are
//! concatenated.

use super::batch_copies::{all, borrowed, store};
use crate::fault::{Fault, done};
use crate::ffi::{
    ArrayNode, BufferPlace, ByteRange, Failure, HostRange, Joined, NumberReader, Outcome, Reached,
    Reads, RustBuffer, RustContext, Wanted,
};
use crate::kind::Kind;
use arrow_cuda_buffer::{join as fill, join_into_new};
use arrow_cuda_layout::{Change, JoinError, JoinPiece, lower, reach as find};
use std::slice;

exported! {
    /// Finds the part of its buffers that each of `count` arrays reaches.  `sizes` has those of `buffers`
    /// buffers, in the order of the arrays.  Stores an answer for each array and for each buffer, and passes
    /// the reader what takes the place of parts; none, and false, if no array is a slice.
    #[allow(clippy::too_many_arguments)]
    attempt reach(
        arrays: *const ArrayNode,
        count: usize,
        sizes: *const u64,
        buffers: usize,
        reads: Reads,
        reader: NumberReader,
        reached: *mut Reached,
        ranges: *mut ByteRange,
    ) -> Outcome<bool> {
        // SAFETY: C++ passes `count` arrays and `buffers` sizes.
        let (arrays, sizes) = unsafe { (all(arrays, count), all(sizes, buffers)) };
        let found = find(arrays, sizes, reads, |wanted, out| reader.read(wanted, out))?;
        let Some(found) = found else { return Ok(false) };
        for (buffer, bytes) in &found.replaced {
            reader.replace(*buffer, bytes)?;
        }
        // SAFETY: there is room for an answer for each array and each buffer.
        unsafe {
            reached.copy_from_nonoverlapping(found.arrays.as_ptr(), found.arrays.len());
            ranges.copy_from_nonoverlapping(found.ranges.as_ptr(), found.ranges.len());
        }
        Ok(true)
    }

    /// Stores `size` bytes of offsets less `base` elsewhere; those below become 0.
    answer lower_offsets(from: *const u8, to: *mut u8, size: usize, width: u64, base: u64) {
        // SAFETY: C++ passes `size` bytes, and room for as many elsewhere.
        let (from, to) = unsafe { (all(from, size), slice::from_raw_parts_mut(to, size)) };
        lower(from, to, width, base);
    }

    /// Makes one array of those of each column, in the context of the first buffer, else in `context`.
    /// `columns` has the number of each column's arrays, which have the same dictionaries; of `buffers`,
    /// those that are not there or have no bytes are null.  Stores an array of the result for the first
    /// array of each column and those within it, dictionaries aside, and its buffers, as many as it returns.
    #[allow(clippy::too_many_arguments)]
    attempt join(
        context: &RustContext,
        arrays: *const ArrayNode,
        count: usize,
        columns: *const usize,
        column_count: usize,
        buffers: *const *const RustBuffer,
        sizes: *const u64,
        buffer_count: usize,
        reader: NumberReader,
        joined: *mut Joined,
        made: *mut BufferPlace,
    ) -> Outcome<usize> {
        // SAFETY: C++ passes as many of each as it counts; buffers that are not null are live.
        let (arrays, columns, sizes, buffers) = unsafe {
            let buffers: Vec<_> =
                all(buffers, buffer_count).iter().map(|buffer| buffer.as_ref()).collect();
            (all(arrays, count), all(columns, column_count), all(sizes, buffer_count), buffers)
        };
        let found = find(arrays, sizes, Reads::ToJoin, |wanted, out| reader.read(wanted, out))?
            .ok_or_else(|| Fault::from(JoinError::Invalid))?;
        let plan = arrow_cuda_layout::plan_join(arrays, columns, &found)?;
        let context = buffers.iter().flatten().next().map_or(context, |buffer| buffer.context());
        let sizes: Vec<_> = plan.sizes.iter().map(|size| *size as usize).collect();
        let result = RustBuffer::suballocate(context, &sizes)?;
        join_into_new(context, &result, &buffers, &plan.pieces)?;
        let number = result.len();
        // SAFETY: there is room for an answer for each array, of which the result has no more, and for
        // the buffers of these.
        unsafe {
            joined.copy_from_nonoverlapping(plan.arrays.as_ptr(), plan.arrays.len());
            store(made, result);
        }
        Ok(number)
    }

    /// Lowers offsets of `widths` bytes by `bases` in place.  With `maps`, they are indices, and become
    /// the numbers of 4 bytes that these have at their places.
    attempted change_numbers(
        buffers: *const *const RustBuffer,
        widths: *const u64,
        bases: *const u64,
        maps: *const *const RustBuffer,
        count: usize,
    ) -> Failure {
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
            let count = to.get(number)?.len() as u64 / width;
            let (to_position, from_position) = (0, 0);
            Some(JoinPiece { to: number, to_position, from: number, from_position, count, change })
        };
        let pieces: Vec<_> = (0..count).filter_map(piece).collect();
        Ok(fill(first.context(), &to, &from, &pieces)?)
    }
}

impl NumberReader {
    fn read(&self, wanted: &[Wanted], out: &mut [u64]) -> Result<bool, Fault> {
        // SAFETY: there is room for as many numbers as are wanted.
        let read =
            unsafe { (self.read)(self.state, wanted.as_ptr(), wanted.len(), out.as_mut_ptr()) };
        read.into_result()
    }

    fn replace(&self, buffer: usize, bytes: &[u8]) -> Result<(), Fault> {
        // SAFETY: the bytes live as long as the call.
        done(unsafe { (self.replace)(self.state, buffer, HostRange::of(bytes)) })
    }
}

impl From<JoinError> for Fault {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Overflow => Self::new(
                Kind::Invalid,
                "offset overflow while concatenating arrays: consider casting to the large type first, \
                 on the host",
            ),
            other => Self::new(Kind::Invalid, other),
        }
    }
}
