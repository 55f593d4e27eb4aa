//! Which layouts are accepted.  Pure arithmetic.

use crate::Error;
use crate::error::invalid;

pub(super) fn check_dimensions(strides: &[i64], shape: &[usize]) -> Result<(), Error> {
    if strides.len() == shape.len() {
        return Ok(());
    }
    let (dimensions, strides) = (shape.len(), strides.len());
    invalid(format!("{dimensions} dimensions have {strides} strides"))
}

/// Checks that all elements lie within a buffer of `size` bytes.  There must be at least one.
pub(super) fn check_within(
    offset: usize,
    strides: &[i64],
    shape: &[usize],
    item_size: usize,
    size: usize,
) -> Result<(), Error> {
    // No product exceeds 127 bits, and sums that do are far outside.
    let (mut start, mut end) = (offset as i128, offset as i128 + item_size as i128);
    for (length, stride) in shape.iter().zip(strides) {
        let reach = (length - 1) as i128 * i128::from(*stride);
        start = start.saturating_add(reach.min(0));
        end = end.saturating_add(reach.max(0));
    }
    if start >= 0 && end <= size as i128 {
        return Ok(());
    }
    Err(Error::OutOfBounds(format!(
        "the array reaches from byte {start} to byte {end} of a buffer of {size} bytes"
    )))
}

/// Checks that no two elements share a byte: along each dimension, a step has to pass everything
/// that the smaller ones span.  So it is with every part and every transpose of an array.
///
/// The elements must lie within a buffer.
pub(super) fn check_distinct(
    strides: &[i64],
    shape: &[usize],
    item_size: usize,
) -> Result<(), Error> {
    let dimensions = strides.iter().zip(shape).filter(|(_, length)| **length > 1);
    let mut dimensions: Vec<_> =
        dimensions.map(|(stride, length)| (stride.unsigned_abs(), *length as u64)).collect();
    dimensions.sort_unstable();
    let mut span = item_size as u64;
    for (stride, length) in dimensions {
        if stride < span {
            return invalid(format!(
                "elements of the target may overlap: a stride of {stride} bytes within {span}"
            ));
        }
        span += stride * (length - 1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The first byte of each element, relative to that of the first one.
    fn places(strides: &[i64], shape: &[usize]) -> Vec<i64> {
        strides.iter().zip(shape).fold(vec![0], |places, (stride, length)| {
            let steps = 0..*length as i64;
            steps.flat_map(|n| places.iter().map(move |place| place + n * stride)).collect()
        })
    }

    fn layouts() -> impl Strategy<Value = (Vec<i64>, Vec<usize>)> {
        vec((-30..30i64, 1..5usize), 0..4).prop_map(|dimensions| dimensions.into_iter().unzip())
    }

    proptest! {
        #[test]
        fn elements_within_are_accepted_and_no_others(
            (strides, shape) in layouts(), item_size in 1..9usize, offset in 0..150usize,
            size in 0..300usize,
        ) {
            let ends = places(&strides, &shape).into_iter().all(|place| {
                let start = offset as i64 + place;
                start >= 0 && start + item_size as i64 <= size as i64
            });
            let checked = check_within(offset, &strides, &shape, item_size, size);
            prop_assert_eq!(checked.is_ok(), ends);
        }

        #[test]
        fn elements_that_share_a_byte_are_refused(
            (strides, shape) in layouts(), item_size in 1..9usize,
        ) {
            if check_distinct(&strides, &shape, item_size).is_ok() {
                let places = places(&strides, &shape).into_iter();
                let bytes: Vec<_> = places
                    .flat_map(|place| place..place + item_size as i64)
                    .collect();
                prop_assert_eq!(bytes.iter().collect::<HashSet<_>>().len(), bytes.len());
            }
        }
    }
}
