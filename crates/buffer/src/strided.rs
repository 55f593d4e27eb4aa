//! The memory that an n-dimensional array covers.  Pure arithmetic.

use crate::Error;

/// Where an array's memory begins, in bytes relative to its first element, and how many bytes
/// there are.
///
/// `shape` counts elements, `strides` are in bytes; without them the last dimension is the
/// densest.  Elements may be in any order, but have to lie side by side, each at a place of its
/// own.
///
/// # Errors
///
/// [`Error::Invalid`], which names the fault: a negative length, a size that overflows, strides
/// that leave gaps or meet.
///
/// ```
/// use arrow_cuda_buffer::strided::span;
///
/// assert_eq!(span(&[2, 3], None, 4).unwrap(), (0, 24));
/// assert_eq!(span(&[2, 3], Some(&[4, 8]), 4).unwrap(), (0, 24)); // the first one the densest
/// assert_eq!(span(&[5], Some(&[-4]), 4).unwrap(), (-16, 20)); // backwards
/// assert!(span(&[2, 3], Some(&[16, 4]), 4).is_err()); // a gap behind each row
/// ```
pub fn span(shape: &[i64], strides: Option<&[i64]>, item_size: i64) -> Result<(i64, u64), Error> {
    if let Some(length) = shape.iter().find(|length| **length < 0) {
        return Err(invalid(format!("the array's shape has a length of {length}")));
    }
    if let Some(strides) = strides
        && strides.len() != shape.len()
    {
        return Err(invalid(format!(
            "the array has {} lengths but {} strides",
            shape.len(),
            strides.len()
        )));
    }
    if shape.contains(&0) || item_size == 0 {
        return Ok((0, 0));
    }
    let size = shape
        .iter()
        .try_fold(item_size, |size, length| size.checked_mul(*length))
        .ok_or_else(|| invalid("the array's size overflows"))?;
    let start = strides.map_or(Ok(0), |strides| start(shape, strides, item_size))?;
    Ok((start, size.cast_unsigned()))
}

/// How far before its first element the memory begins.
fn start(shape: &[i64], strides: &[i64], item_size: i64) -> Result<i64, Error> {
    // A dimension of one element is never stepped through, whatever its stride.
    let mut steps: Vec<(i64, i64)> =
        strides.iter().copied().zip(shape.iter().copied()).filter(|(_, n)| *n > 1).collect();
    steps.sort_unstable_by_key(|(stride, _)| stride.unsigned_abs());
    let (mut start, mut dense) = (0, item_size);
    for (stride, length) in steps {
        if stride.unsigned_abs() != dense.unsigned_abs() {
            return Err(invalid("array data is non-contiguous"));
        }
        // None of these overflows: together they are less than the size.
        start += stride.min(0) * (length - 1);
        dense *= length;
    }
    Ok(start)
}

/// The strides, in units of `unit`, of an array whose last dimension is the densest.
///
/// ```
/// assert_eq!(arrow_cuda_buffer::strided::dense(&[2, 3, 4], 1), [12, 4, 1]);
/// ```
pub fn dense(shape: &[i64], unit: i64) -> Vec<i64> {
    let mut strides = vec![unit; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(shape[at].max(1));
    }
    strides
}

fn invalid(text: impl Into<String>) -> Error {
    Error::Invalid(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The first byte of every element.
    fn places(shape: &[i64], strides: &[i64]) -> Vec<i64> {
        let mut places = vec![0];
        for (length, stride) in shape.iter().zip(strides) {
            places = places
                .iter()
                .flat_map(|place| (0..*length).map(move |at| place + at * stride))
                .collect();
        }
        places
    }

    proptest! {
        #[test]
        fn a_span_is_what_the_elements_cover_without_gaps(
            layout in prop::collection::vec((0..4i64, -40..40i64), 0..4), item_size in 1..5i64,
        ) {
            let (shape, strides): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
            let places = places(&shape, &strides);
            let bytes: BTreeSet<i64> =
                places.iter().flat_map(|place| *place..place + item_size).collect();
            let size = places.len() as i64 * item_size;
            let dense = match (bytes.first(), bytes.last()) {
                (Some(first), Some(last)) => bytes.len() as i64 == size && last - first + 1 == size,
                _ => true,
            };
            let start = bytes.first().copied().unwrap_or(0);
            match span(&shape, Some(&strides), item_size) {
                Ok(found) => {
                    prop_assert!(dense);
                    prop_assert_eq!(found, (start, size as u64));
                }
                Err(_) => prop_assert!(!dense),
            }
        }

        #[test]
        fn dense_strides_have_no_gaps(
            shape in prop::collection::vec(0..5i64, 0..5), item_size in 1..9i64,
        ) {
            let with = span(&shape, Some(&dense(&shape, item_size)), item_size);
            prop_assert_eq!(with, span(&shape, None, item_size));
        }

        #[test]
        fn nothing_overflows(
            layout in prop::collection::vec((any::<i64>(), any::<i64>()), 0..5),
            item_size in 0..=i64::MAX,
        ) {
            let (shape, strides): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
            if let Ok((start, size)) = span(&shape, Some(&strides), item_size) {
                prop_assert!(start <= 0 && start.unsigned_abs() <= size);
            }
            drop(dense(&shape, item_size));
        }
    }
}
