//! The shape of an array, and where its elements lie.

use super::ElementType;
use crate::Error;
use crate::error::invalid;

/// The largest number of dimensions of an array, as in NumPy.
pub const MAX_DIMENSIONS: usize = 64;

/// The shape of an array, the strides between its elements, and their type.
///
/// Lengths count elements, strides are in **bytes**: the distance between neighbours along a
/// dimension, negative for one that is stored backwards.  The size and the [`span`](Self::span) of
/// every `StridedLayout` fit into 63 bits; elements may have gaps between them, or overlap.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, StridedLayout, Span};
///
/// let rows = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// assert_eq!((rows.strides(), rows.size()), (&[12, 4][..], 24));
///
/// let backwards = StridedLayout::strided(ElementType::float(4), vec![5], vec![-4])?;
/// assert_eq!(backwards.span(), Span { start: -16, size: 20 });
/// assert!(backwards.is_contiguous());
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedLayout {
    pub(super) element: ElementType,
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
    /// All elements together, in bytes.
    pub(super) size: usize,
    pub(super) span: Span,
}

/// The order in which the elements of several dimensions follow each other.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Order, StridedLayout};
///
/// let matrix = |order| StridedLayout::dense(ElementType::uint(1), vec![2, 3], order);
/// assert_eq!(matrix(Order::C)?.strides(), [3, 1]);
/// assert_eq!(matrix(Order::Fortran)?.strides(), [1, 2]);
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// C's: the last dimension is the densest.
    C,
    /// Fortran's: the first dimension is the densest.
    Fortran,
}

/// A range of bytes, relative to an array's first element.
///
/// ```
/// use arrow_cuda_numba_bridge::{ElementType, Span, StridedLayout};
///
/// let backwards = StridedLayout::strided(ElementType::int(8), vec![3], vec![-8])?;
/// assert_eq!(backwards.span(), Span { start: -16, size: 24 });
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where the range begins: 0, or negative for negative strides.
    pub start: i64,
    /// The size, in bytes.
    pub size: usize,
}

impl StridedLayout {
    /// Contiguous elements, with the last dimension the densest: NumPy's and C's order.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!((layout.strides(), layout.size()), (&[12, 4][..], 24));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a negative length, and for a size that overflows.
    pub fn row_major(element: ElementType, shape: Vec<i64>) -> Result<Self, Error> {
        let size = size(element, &shape)?;
        let strides = row_major_strides(element, &shape);
        Ok(Self { element, shape, strides, size, span: Span { start: 0, size } })
    }

    /// The dimensions in reverse order.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?.reversed();
    /// assert_eq!((layout.shape(), layout.strides()), (&[3, 2][..], &[4, 12][..]));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.shape.reverse();
        self.strides.reverse();
        self
    }

    /// Contiguous elements in either order.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedLayout};
    ///
    /// let layout = StridedLayout::dense(ElementType::float(4), vec![2, 3], Order::Fortran)?;
    /// assert_eq!(layout.strides(), [4, 8]);
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`row_major`](Self::row_major).
    pub fn dense(element: ElementType, mut shape: Vec<i64>, order: Order) -> Result<Self, Error> {
        match order {
            Order::C => Self::row_major(element, shape),
            Order::Fortran => {
                shape.reverse();
                Ok(Self::row_major(element, shape)?.reversed())
            }
        }
    }

    /// Elements at the distances `strides`, in bytes for each dimension.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let rows_with_gaps = StridedLayout::strided(ElementType::float(4), vec![2, 3], vec![16, 4])?;
    /// assert_eq!((rows_with_gaps.size(), rows_with_gaps.span().size), (24, 28));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a negative length, a number of strides that is not the number of
    /// dimensions, and for a size or span that overflows.
    pub fn strided(
        element: ElementType,
        shape: Vec<i64>,
        strides: Vec<i64>,
    ) -> Result<Self, Error> {
        let size = size(element, &shape)?;
        if strides.len() != shape.len() {
            let (lengths, strides) = (shape.len(), strides.len());
            return invalid(format!("the array has {lengths} lengths but {strides} strides"));
        }
        let span = match size {
            0 => Span::default(),
            _ => span(element, &shape, &strides)
                .ok_or_else(|| Error::Invalid("the array's strides overflow".into()))?,
        };
        Ok(Self { element, shape, strides, size, span })
    }

    /// The type of the elements.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!(layout.element().size(), 4);
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The number of elements along each dimension.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!(layout.shape(), [2, 3]);
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The number of dimensions.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let one_number = StridedLayout::row_major(ElementType::float(4), vec![])?;
    /// assert_eq!((one_number.ndim(), one_number.count()), (0, 1));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!(layout.count(), 6);
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn count(&self) -> i64 {
        match self.shape.contains(&0) {
            true => 0,
            // Elements without bytes may be more than a number can count.
            false => self.shape.iter().fold(1, |count, length| count.saturating_mul(*length)),
        }
    }

    /// The distance between neighbours along each dimension, in bytes.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert_eq!(layout.strides(), [12, 4]); // in bytes, not elements
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The size of all elements together, in bytes.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let every_other = StridedLayout::strided(ElementType::float(4), vec![3], vec![8])?;
    /// assert_eq!(every_other.size(), 12); // without the gaps
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn size(&self) -> usize {
        self.size
    }

    /// The range from the first byte of any element to the last one, gaps included.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Span, StridedLayout};
    ///
    /// let every_other = StridedLayout::strided(ElementType::float(4), vec![3], vec![8])?;
    /// assert_eq!(every_other.span(), Span { start: 0, size: 20 });
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether the elements are contiguous in C order, the last dimension the densest.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let rows = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert!(rows.is_row_major() && !rows.reversed().is_row_major());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn is_row_major(&self) -> bool {
        self.is_dense_in(self.dimensions().rev())
    }

    /// Whether the elements are contiguous in Fortran order, the first dimension the densest.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let rows = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// assert!(!rows.is_column_major() && rows.reversed().is_column_major());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn is_column_major(&self) -> bool {
        self.is_dense_in(self.dimensions())
    }

    /// Whether the elements are contiguous in one of these orders.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedLayout};
    ///
    /// let numbers = StridedLayout::row_major(ElementType::float(4), vec![6])?;
    /// assert!([Order::C, Order::Fortran].iter().all(|order| numbers.is_dense_in_order(*order)));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn is_dense_in_order(&self, order: Order) -> bool {
        match order {
            Order::C => self.is_row_major(),
            Order::Fortran => self.is_column_major(),
        }
    }

    /// Whether the elements are contiguous in any order, without overlap.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// let cube = StridedLayout::row_major(ElementType::uint(1), vec![2, 3, 4])?;
    /// assert!(cube.transpose(&[1, 0, 2])?.is_contiguous());
    /// assert!(!StridedLayout::strided(ElementType::uint(1), vec![3], vec![2])?.is_contiguous());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        if self.is_row_major() {
            return true;
        }
        let mut dimensions: Vec<_> = self.dimensions().collect();
        dimensions.sort_unstable_by_key(|(_, stride)| stride.unsigned_abs());
        self.steps(dimensions).all(|(stride, dense)| stride.unsigned_abs() == dense)
    }

    /// Refuses elements with gaps between them.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
    ///
    /// StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?.check_contiguous()?;
    /// let every_other = StridedLayout::strided(ElementType::uint(1), vec![3], vec![2])?;
    /// assert!(every_other.check_contiguous().is_err());
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], unless [`is_contiguous`](Self::is_contiguous).
    pub fn check_contiguous(&self) -> Result<(), Error> {
        match self.is_contiguous() {
            true => Ok(()),
            false => invalid("array data is non-contiguous"),
        }
    }

    pub(super) fn dimensions(
        &self,
    ) -> impl DoubleEndedIterator<Item = (i64, i64)> + ExactSizeIterator {
        self.shape.iter().copied().zip(self.strides.iter().copied())
    }

    fn is_dense_in(&self, dimensions: impl IntoIterator<Item = (i64, i64)>) -> bool {
        self.steps(dimensions).all(|(stride, dense)| i64::try_from(dense) == Ok(stride))
    }

    /// The stride of each dimension and the size of all denser ones, from the densest on.
    ///
    /// This skips dimensions of one element, whose stride is never used, and all dimensions of an
    /// array without bytes.
    fn steps(
        &self,
        dimensions: impl IntoIterator<Item = (i64, i64)>,
    ) -> impl Iterator<Item = (i64, u64)> {
        let is_used = |(length, _): &(i64, i64)| self.size > 0 && *length > 1;
        let first = u64::from(self.element.size());
        dimensions.into_iter().filter(is_used).scan(first, |dense, (length, stride)| {
            let step = (stride, *dense);
            // At most the size of all elements.
            *dense *= length.unsigned_abs();
            Some(step)
        })
    }
}

/// The size of all elements together, in bytes.
fn size(element: ElementType, shape: &[i64]) -> Result<usize, Error> {
    if let Some(length) = shape.iter().find(|length| **length < 0) {
        return invalid(format!("the array's shape has a length of {length}"));
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let size =
        shape.iter().try_fold(i64::from(element.size()), |size, length| size.checked_mul(*length));
    let size = size.ok_or_else(|| Error::Invalid("the array's size overflows".into()))?;
    Ok(size as usize) // no length is negative
}

/// The strides of an array without elements are never used, so they may saturate.
pub(super) fn row_major_strides(element: ElementType, shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut dense = i64::from(element.size());
    for (stride, length) in strides.iter_mut().zip(shape).rev() {
        *stride = dense;
        dense = dense.saturating_mul((*length).max(1));
    }
    strides
}

/// The span of an array that has elements; `None` if it overflows.
fn span(element: ElementType, shape: &[i64], strides: &[i64]) -> Option<Span> {
    let (mut start, mut end) = (0i64, i64::from(element.size()));
    for (length, stride) in shape.iter().zip(strides) {
        let reach = stride.checked_mul(length - 1)?;
        if reach < 0 {
            start = start.checked_add(reach)?;
        } else {
            end = end.checked_add(reach)?;
        }
    }
    Some(Span { start, size: end.checked_sub(start)?.unsigned_abs() as usize })
}
