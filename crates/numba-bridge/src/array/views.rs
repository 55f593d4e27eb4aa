//! Views: other layouts of the same elements.

use super::StridedArray;
use crate::{ElementType, Error, Index, StridedLayout};

impl StridedArray {
    /// The part that an index expression names; see [`StridedLayout::index`].
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
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self { buffer: self.buffer.read_only(), layout: self.layout.clone() }
    }
}
