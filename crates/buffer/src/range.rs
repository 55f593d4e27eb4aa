//! Bounds of ranges within a buffer, in bytes.  Pure arithmetic.

use crate::Error;
use std::ops::{Bound, RangeBounds};

/// Checks that `length` bytes from `offset` on lie within `size`, and returns both.
///
/// # Errors
///
/// [`Error::OutOfBounds`], which names the range and the limit.
///
/// ```
/// use arrow_cuda_buffer::range::within;
///
/// assert_eq!(within(4, 6, 10).unwrap(), (4, 6));
/// assert!(within(4, 7, 10).is_err() && within(usize::MAX, 2, 10).is_err());
/// ```
pub fn within(offset: usize, length: usize, size: usize) -> Result<(usize, usize), Error> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok((offset, length)),
        _ => Err(Error::OutOfBounds(format!(
            "{length} bytes at offset {offset} do not lie within a buffer of {size} bytes"
        ))),
    }
}

/// Where a range within `length` elements or bytes begins, and how many of them it has.
pub(crate) fn resolved(
    range: &impl RangeBounds<usize>,
    what: &str,
    length: usize,
) -> Result<(usize, usize), Error> {
    let start = match range.start_bound() {
        Bound::Included(start) => Some(*start),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => Some(length),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= length => Ok((start, end - start)),
        _ => {
            // One more than the last number there is.
            let number = |number: Option<usize>| number.map_or(1 << usize::BITS, |at| at as u128);
            Err(Error::OutOfBounds(format!(
                "the {what} from {} on, up to {}, do not lie within {length}",
                number(start),
                number(end),
            )))
        }
    }
}

/// How many bytes there are from `offset` on, at most `length`.  None at or past the end.
///
/// ```
/// assert_eq!(arrow_cuda_buffer::range::available(4, 100, 10), 6);
/// assert_eq!(arrow_cuda_buffer::range::available(12, 100, 10), 0);
/// ```
pub fn available(offset: usize, length: usize, size: usize) -> usize {
    length.min(size.saturating_sub(offset))
}

/// Whether the `length` bytes at two addresses share one.
///
/// ```
/// use arrow_cuda_buffer::range::overlap;
///
/// assert!(overlap(0, 3, 4) && !overlap(0, 4, 4));
/// ```
pub fn overlap(a: u64, b: u64, length: usize) -> bool {
    a.abs_diff(b) < length as u64
}

/// The pieces, as (offset, length), that cover `size` bytes with at most `step` bytes each.
///
/// ```
/// let pieces = arrow_cuda_buffer::range::chunks(10, 4);
/// assert_eq!(pieces.collect::<Vec<_>>(), [(0, 4), (4, 4), (8, 2)]);
/// ```
pub fn chunks(size: usize, step: usize) -> impl Iterator<Item = (usize, usize)> {
    debug_assert!(step > 0, "chunks of nothing cover nothing");
    (0..size.div_ceil(step)).map(move |n| (n * step, step.min(size - n * step)))
}
