//! The parts of their buffers that slices reach, for C++.

use super::batch_copies::all;
use crate::fault::{Fault, attempt, done};
use crate::ffi::{ArrayNode, ByteRange, OffsetReader, Outcome, Reached, Reads, Wanted};
use arrow_cuda_layout::{lower, reach as find};
use std::slice;

#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn reach(
    arrays: *const ArrayNode,
    count: usize,
    sizes: *const u64,
    buffers: usize,
    reads: Reads,
    reader: OffsetReader,
    reached: *mut Reached,
    ranges: *mut ByteRange,
) -> Outcome<bool> {
    let work = || {
        // SAFETY: C++ passes so many arrays and sizes.
        let (arrays, sizes) = unsafe { (all(arrays, count), all(sizes, buffers)) };
        let found = find(arrays, sizes, reads, |wanted, out| reader.read(wanted, out))?;
        let Some(found) = found else { return Ok(false) };
        // SAFETY: there is room for an answer for each array and each buffer.
        unsafe {
            reached.copy_from_nonoverlapping(found.arrays.as_ptr(), found.arrays.len());
            ranges.copy_from_nonoverlapping(found.ranges.as_ptr(), found.ranges.len());
        }
        Ok(true)
    };
    attempt(work)
}

impl OffsetReader {
    /// Has C++ read the offsets that are wanted.
    pub(super) fn read(&self, wanted: &[Wanted], out: &mut [u64]) -> Result<(), Fault> {
        // SAFETY: there is room for as many offsets as are wanted.
        done(unsafe { (self.read)(self.state, wanted.as_ptr(), wanted.len(), out.as_mut_ptr()) })
    }
}

pub(super) unsafe extern "C" fn lower_offsets(
    from: *const u8,
    to: *mut u8,
    size: usize,
    width: u64,
    base: u64,
) {
    // SAFETY: C++ passes so many bytes, and room for as many elsewhere.
    let (from, to) = unsafe { (all(from, size), slice::from_raw_parts_mut(to, size)) };
    lower(from, to, width, base);
}
