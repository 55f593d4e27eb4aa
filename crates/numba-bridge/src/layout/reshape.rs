//! Other shapes, orders and element types for the same memory, without moving an element.

use super::{Order, StridedLayout};
use crate::error::invalid;
use crate::{ElementType, Error};

impl StridedLayout {
    /// The same elements in another shape; one length may be -1, which the others determine.
    ///
    /// `order` says in which order the elements are counted, in both shapes.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout, Order};
    ///
    /// let six = StridedLayout::row_major(ElementType::float(4), vec![6])?;
    /// let matrix = six.reshape(&[2, -1], Order::C)?;
    /// assert_eq!((matrix.shape(), matrix.strides()), (&[2, 3][..], &[12, 4][..]));
    /// assert_eq!(matrix.transpose(&[1, 0])?, matrix.clone().reversed());
    /// assert!(matrix.reversed().ravel(Order::C).is_err(), "a copy could");
    /// assert_eq!(six.broadcast_to(&[2, 6])?.strides(), [0, 4]);
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a shape of another number of elements; [`Error::NeedsCopy`] where no
    /// strides give these elements that shape.
    pub fn reshape(&self, shape: &[i64], order: Order) -> Result<Self, Error> {
        let shape = self.complete(shape)?;
        if self.size == 0 {
            return Self::dense(self.element, shape, order);
        }
        // In C's order from the densest dimension on; Fortran's is the mirror image.
        let strides = match order {
            Order::C => {
                let lengths = shape.iter().rev().copied();
                let mut strides = divided(self.dimensions().rev(), lengths)?;
                strides.reverse();
                strides
            }
            Order::Fortran => divided(self.dimensions(), shape.iter().copied())?,
        };
        Self::strided(self.element, shape, strides)
    }

    /// All elements in one dimension.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedLayout};
    ///
    /// let matrix = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!(matrix.ravel(Order::C)?.shape(), [6]);
    /// assert!(matrix.ravel(Order::Fortran).is_err()); // column after column
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NeedsCopy`] where they are not at equal distances.
    pub fn ravel(&self, order: Order) -> Result<Self, Error> {
        self.reshape(&[self.count()], order)
    }

    /// The dimensions in another order: `axes` names each of them once.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let cube = StridedLayout::row_major(ElementType::uint(1), vec![2, 3, 4])?;
    /// let moved = cube.transpose(&[-1, 0, 1])?; // the last dimension comes first
    /// assert_eq!((moved.shape(), moved.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it names one twice or too few; [`Error::Axis`] for one that the array does not have.
    pub fn transpose(&self, axes: &[i64]) -> Result<Self, Error> {
        if axes.len() != self.ndim() {
            return invalid("axes don't match array");
        }
        let mut taken = Vec::with_capacity(axes.len());
        let mut shape = Vec::with_capacity(axes.len());
        let mut strides = Vec::with_capacity(axes.len());
        for axis in axes {
            let (at, length, stride) = self.dimension(*axis)?;
            if taken.contains(&at) {
                return invalid("repeated axis in transpose");
            }
            taken.push(at);
            shape.push(length);
            strides.push(stride);
        }
        Ok(Self { shape, strides, ..*self })
    }

    /// Without the dimensions of one element: those that `axes` names, or all.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![1, 3, 1])?;
    /// assert_eq!(layout.squeeze(None)?.shape(), [3]);
    /// assert_eq!(layout.squeeze(Some(&[0]))?.shape(), [3, 1]);
    /// assert!(layout.squeeze(Some(&[1])).is_err());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for one that has another length or is named twice; [`Error::Axis`] for one that the array
    /// does not have.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self, Error> {
        let mut dropped = Vec::new();
        for axis in axes.unwrap_or_default() {
            let (at, _, _) = self.dimension(*axis)?;
            if dropped.contains(&at) {
                return invalid("duplicate value in 'axis'");
            }
            dropped.push(at);
        }
        if dropped.iter().any(|at| self.shape.get(*at) != Some(&1)) {
            return invalid("cannot select an axis to squeeze out which has size not equal to one");
        }
        let is_kept = |at: usize, length: i64| match axes {
            None => length != 1,
            Some(_) => !dropped.contains(&at),
        };
        let kept = self.dimensions().enumerate().filter(|(at, (length, _))| is_kept(*at, *length));
        let (shape, strides) = kept.map(|(_, dimension)| dimension).unzip();
        Ok(Self { shape, strides, ..*self })
    }

    /// The array repeated to fill `shape`, as NumPy broadcasts, with strides of 0 along repeated dimensions.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let row = StridedLayout::row_major(ElementType::float(4), vec![3])?;
    /// assert_eq!(row.broadcast_to(&[2, 3])?.strides(), [0, 4]);
    /// assert!(row.broadcast_to(&[3, 2]).is_err());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where a length is neither 1 nor that of the shape.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self, Error> {
        let misfit = || {
            let (from, to) = (printed(&self.shape), printed(shape));
            let text = format!("could not broadcast input array from shape {from} into shape {to}");
            Error::Invalid(text)
        };
        // From the last dimension on, as NumPy compares shapes.
        let mut ours = self.dimensions().rev();
        let mut strides = vec![0; shape.len()];
        for (repeated, wanted) in strides.iter_mut().zip(shape).rev() {
            match ours.next() {
                Some((length, stride)) if length == *wanted => *repeated = stride,
                Some((1, _)) | None => {}
                Some(_) => return Err(misfit()),
            }
        }
        // Leading dimensions of one element beyond the shape's own do no harm.
        if ours.any(|(length, _)| length != 1) {
            return Err(misfit());
        }
        Self::strided(self.element, shape.to_vec(), strides)
    }

    /// The same bytes as elements of another type.  With another size, the last dimension has to be
    /// dense, and becomes longer or shorter.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let numbers = StridedLayout::row_major(ElementType::int(8), vec![2, 3])?;
    /// let bytes = numbers.with_element(ElementType::uint(1))?;
    /// assert_eq!(bytes.shape(), [2, 24]);
    /// assert!(bytes.with_element("|V5".parse()?).is_err()); // 24 bytes are not divided by 5
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where the bytes cannot be divided like that.
    pub fn with_element(&self, element: ElementType) -> Result<Self, Error> {
        let (from, to) = (i64::from(self.element.size()), i64::from(element.size()));
        if from == to {
            return Ok(Self { element, ..self.clone() });
        }
        let (Some((length, lengths)), Some((stride, strides))) =
            (self.shape.split_last(), self.strides.split_last())
        else {
            return invalid(
                "Changing the dtype of a 0d array is only supported if the itemsize is \
                            unchanged",
            );
        };
        // The stride of a dimension of one element is never used.
        if *stride != from && *length != 1 && self.size > 0 {
            return invalid(
                "To change to a dtype of a different size, the last axis must be \
                            contiguous",
            );
        }
        if to == 0 || to < from && from % to != 0 {
            return invalid(
                "When changing to a smaller dtype, its size must be a divisor of the \
                            size of original dtype",
            );
        }
        let Some(bytes) = length.checked_mul(from).filter(|bytes| bytes % to == 0) else {
            return invalid(
                "When changing to a larger dtype, its size must be a divisor of the \
                            total size in bytes of the last axis of the array.",
            );
        };
        let (shape, strides) = ([lengths, &[bytes / to]].concat(), [strides, &[to]].concat());
        Self::strided(element, shape, strides)
    }

    /// A shape whose unknown length, if there is one, is filled in.
    fn complete(&self, shape: &[i64]) -> Result<Vec<i64>, Error> {
        let misfit = || {
            let (count, shape) = (self.count(), printed(shape));
            Error::Invalid(format!("cannot reshape array of size {count} into shape {shape}"))
        };
        let mut known = shape.iter().filter(|length| **length != -1);
        let known = known.try_fold(1i64, |count, length| count.checked_mul(*length));
        let known = known.ok_or_else(misfit)?;
        let mut shape = shape.to_vec();
        let mut unknown = shape.iter_mut().filter(|length| **length == -1);
        match (unknown.next(), unknown.next()) {
            (None, _) if known == self.count() => {}
            (Some(length), None) if known != 0 && self.count() % known == 0 => {
                *length = self.count() / known;
            }
            (_, None) => return Err(misfit()),
            _ => return invalid("can only specify one unknown dimension"),
        }
        if shape.iter().any(|length| *length < 0) {
            return invalid("negative dimensions not allowed");
        }
        Ok(shape)
    }

    /// The number of a dimension that is counted from either end, its length and its stride.
    fn dimension(&self, axis: i64) -> Result<(usize, i64, i64), Error> {
        let from_start = if axis < 0 { axis.saturating_add(self.ndim() as i64) } else { axis };
        let found = usize::try_from(from_start).ok().and_then(|at| {
            let (length, stride) = self.dimensions().nth(at)?;
            Some((at, length, stride))
        });
        found.ok_or(Error::Axis(axis, self.ndim()))
    }
}

/// The strides for new lengths of an array that has elements, from the densest dimension on.
fn divided(
    dimensions: impl Iterator<Item = (i64, i64)>,
    lengths: impl Iterator<Item = i64>,
) -> Result<Vec<i64>, Error> {
    let needs_copy = || {
        let text = "the array's elements cannot have that shape without a copy of them";
        Error::NeedsCopy(text.into())
    };
    // Runs of elements at equal distances, as long as possible.
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for (length, stride) in dimensions.filter(|(length, _)| *length != 1) {
        match runs.last_mut() {
            Some((run, step)) if step.checked_mul(*run) == Some(stride) => *run *= length,
            _ => runs.push((length, stride)),
        }
    }
    // Each new dimension divides a run.
    let mut runs = runs.into_iter();
    let (mut left, mut stride) = (1, 0);
    lengths
        .map(|length| {
            if length != 1 && left == 1 {
                (left, stride) = runs.next().ok_or_else(needs_copy)?;
            }
            if left % length != 0 {
                return Err(needs_copy());
            }
            let step = stride;
            if length != 1 {
                left /= length;
                stride = stride.saturating_mul(length);
            }
            Ok(step)
        })
        .collect()
}

/// A shape as Python prints it.
fn printed(shape: &[i64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => {
            let lengths: Vec<_> = shape.iter().map(i64::to_string).collect();
            format!("({})", lengths.join(","))
        }
    }
}
