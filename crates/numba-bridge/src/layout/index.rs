//! Indexing and slicing, as NumPy's basic indexing does it, and fields of structures.

use super::strided::row_major_strides;
use super::{MAX_DIMENSIONS, StridedLayout};
use crate::error::invalid;
use crate::{ElementType, Error};

/// One entry of an index expression, with the meaning that it has in Python.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Index, Slice, StridedLayout};
///
/// let cube = StridedLayout::row_major(ElementType::float(4), vec![2, 3, 4])?;
/// let all = Index::Slice(Slice::default());
/// let (part, _offset) = cube.index(&[Index::New, all, Index::Rest, Index::At(-1)])?; // [None, :, ..., -1]
/// assert_eq!(part.shape(), [1, 2, 3]);
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One element along a dimension, which disappears; negative numbers count from the end.
    At(i64),
    /// Part of a dimension.
    Slice(Slice),
    /// `...`: all dimensions that the other entries leave.
    Rest,
    /// `None`: a new dimension of one element.
    New,
}

/// `start:stop:step`, as far as it is given; negative positions count from the end.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Index, Slice, StridedLayout};
///
/// let numbers = StridedLayout::row_major(ElementType::int(8), vec![10])?;
/// let slice = Slice { start: Some(-1), stop: Some(3), step: Some(-2) }; // [-1:3:-2]: 9, 7 and 5
/// let (part, offset) = numbers.index(&[Index::Slice(slice)])?;
/// assert_eq!((part.shape(), part.strides(), offset), (&[3][..], &[-16][..], 72));
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The first element.
    pub start: Option<i64>,
    /// The first element that is left out.
    pub stop: Option<i64>,
    /// The distance of neighbours; 1 by default.
    pub step: Option<i64>,
}

impl StridedLayout {
    /// The part of the array that an index expression names, and the distance of its first element
    /// from the array's own, in bytes.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Index, StridedLayout, Slice};
    ///
    /// let matrix = StridedLayout::row_major(ElementType::float(4), vec![3, 4])?;
    /// let every_other = Index::Slice(Slice { step: Some(2), ..Slice::default() });
    /// let (part, offset) = matrix.index(&[Index::At(-1), every_other])?;
    /// assert_eq!((part.shape(), part.strides(), offset), (&[2][..], &[8][..], 32));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Index`] for a position outside the array, too many entries, more than one `...`, or more
    /// than [`MAX_DIMENSIONS`]; [`Error::Invalid`] for a step of 0.
    pub fn index(&self, entries: &[Index]) -> Result<(Self, i64), Error> {
        let named = entries.iter().filter(|entry| matches!(entry, Index::At(_) | Index::Slice(_)));
        let named = named.count();
        let too_many = || {
            Error::Index(format!(
                "too many indices for array: array is {}-dimensional, but {named} were indexed",
                self.ndim()
            ))
        };
        let rest = self.ndim().checked_sub(named).ok_or_else(too_many)?;
        let mut dimensions = self.dimensions();
        let mut shape = Vec::with_capacity(rest + entries.len());
        let mut strides = Vec::with_capacity(rest + entries.len());
        let (mut offset, mut has_rest) = (0, false);
        for entry in entries {
            let axis = self.ndim() - dimensions.len();
            match entry {
                Index::New => {
                    shape.push(1);
                    strides.push(0);
                }
                Index::Rest if has_rest => {
                    let text = "an index can only have a single ellipsis ('...')";
                    return Err(Error::Index(text.into()));
                }
                Index::Rest => {
                    has_rest = true;
                    for (length, stride) in dimensions.by_ref().take(rest) {
                        shape.push(length);
                        strides.push(stride);
                    }
                }
                Index::At(at) => {
                    let (length, stride) = dimensions.next().ok_or_else(too_many)?;
                    let from_start = if *at < 0 { at.saturating_add(length) } else { *at };
                    if !(0..length).contains(&from_start) {
                        return Err(Error::Index(format!(
                            "index {at} is out of bounds for axis {axis} with size {length}"
                        )));
                    }
                    // Of an array without elements, strides may be anything.
                    offset += if self.size > 0 { from_start * stride } else { 0 };
                }
                Index::Slice(slice) => {
                    let (length, stride) = dimensions.next().ok_or_else(too_many)?;
                    let (first, step, taken) = slice.of(length)?;
                    offset += if self.size > 0 && taken > 0 { first * stride } else { 0 };
                    shape.push(taken);
                    strides.push(stride.saturating_mul(step));
                }
            }
        }
        for (length, stride) in dimensions {
            shape.push(length);
            strides.push(stride);
        }
        if shape.len() > MAX_DIMENSIONS {
            return Err(Error::Index(format!(
                "number of dimensions must be within [0, {MAX_DIMENSIONS}], indexing result would have {}",
                shape.len()
            )));
        }
        let part = Self::strided(self.element, shape, strides)?;
        // An empty view may begin anywhere.
        let offset = if part.size == 0 { 0 } else { offset };
        Ok((part, offset))
    }
}

impl Slice {
    /// The first element, the step and the number of elements, of a dimension that has `length`.
    fn of(self, length: i64) -> Result<(i64, i64, i64), Error> {
        let step = self.step.unwrap_or(1);
        if step == 0 {
            return invalid("slice step cannot be zero");
        }
        let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let place = |position: i64| {
            let position = if position < 0 { position.saturating_add(length) } else { position };
            position.clamp(lowest, highest)
        };
        let (from, to) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let (start, stop) = (self.start.map_or(from, place), self.stop.map_or(to, place));
        let distance = if step > 0 { stop - start } else { start - stop };
        let taken = if distance <= 0 { 0 } else { (distance - 1) / step.saturating_abs() + 1 };
        Ok((start, step, taken))
    }
}

impl StridedLayout {
    /// One field of elements that are structures, relative to where it begins in the first of them.
    ///
    /// It begins `offset` bytes after its structure's start.  Where it is an array itself, of the
    /// lengths `shape`, its dimensions follow those of the structures.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let structures = StridedLayout::row_major("|V12".parse()?, vec![5])?;
    /// let field = structures.field(4, ElementType::float(4), &[2])?;
    /// assert_eq!((field.shape(), field.strides()), (&[5, 2][..], &[12, 4][..]));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a negative length, and for a field that leaves the structure.
    pub fn field(&self, offset: usize, element: ElementType, shape: &[i64]) -> Result<Self, Error> {
        let own = Self::row_major(element, shape.to_vec())?;
        let structure = self.element.size() as usize;
        if offset.checked_add(own.size).is_none_or(|end| end > structure) {
            return invalid(format!(
                "a field of {} bytes from byte {offset} on does not fit into a structure of \
                 {structure} bytes",
                own.size
            ));
        }
        let mut strides = self.strides.clone();
        strides.extend(row_major_strides(element, shape));
        Self::strided(element, [&self.shape, shape].concat(), strides)
    }
}
