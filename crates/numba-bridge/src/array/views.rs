//! Views: other layouts of the same elements.

use super::StridedArray;
use crate::{ElementType, Error, Index, StridedLayout};

impl StridedArray {
    /// The part that an index expression names; see [`StridedLayout::index`].
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Index, Order, Slice, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// let from_second = Index::Slice(Slice { start: Some(1), ..Slice::default() });
    /// assert_eq!(array.index(&[Index::At(0), from_second])?.to_vec(Order::C)?, [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::index`].
    pub fn index(&self, entries: &[Index]) -> Result<Self, Error> {
        let (layout, offset) = self.layout.index(entries)?;
        let first = self.first() as i64 + offset;
        Self::new(&self.buffer, first as usize, layout)
    }

    /// One field of structures; see [`StridedLayout::field`].
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let structures = StridedLayout::row_major("|V3".parse()?, vec![2])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, structures)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// let last_bytes = array.field(2, ElementType::uint(1), &[])?;
    /// assert_eq!(last_bytes.to_vec(Order::C)?, [3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::field`].
    pub fn field(&self, offset: usize, element: ElementType, shape: &[i64]) -> Result<Self, Error> {
        let layout = self.layout.field(offset, element, shape)?;
        let offset = if layout.size() == 0 { 0 } else { offset };
        Self::new(&self.buffer, self.first() + offset, layout)
    }

    /// The array in another layout of elements that it has: `change` is a method of [`StridedLayout`].
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// array.copy_from_host(&[1, 2, 3, 4, 5, 6], Order::C)?;
    /// let transposed = array.with_layout(|layout| layout.transpose(&[1, 0]))?;
    /// assert_eq!(transposed.to_vec(Order::C)?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What `change` returns; [`Error::Invalid`] for a layout that leaves the array's memory.
    pub fn with_layout(
        &self,
        change: impl FnOnce(&StridedLayout) -> Result<StridedLayout, Error>,
    ) -> Result<Self, Error> {
        let layout = change(&self.layout)?;
        Self::new(&self.buffer, self.first(), layout)
    }

    /// The same elements, which may not be written to through the result.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert!(array.read_only().fill(&[7]).is_err());
    /// array.fill(&[7])?; // the array itself may still be written to
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self { buffer: self.buffer.read_only(), layout: self.layout.clone() }
    }
}
