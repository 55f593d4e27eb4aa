//! Fields of structures.

use super::Layout;
use super::strided::row_major_strides;
use crate::error::invalid;
use crate::{ElementType, Error};

impl Layout {
    /// One field of elements that are structures, relative to where it begins in the first of them.
    ///
    /// It begins `offset` bytes behind its structure's start.  Where it is an array itself, of the
    /// lengths `shape`, its dimensions follow those of the structures.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a negative length, and for a field that leaves the structure.
    ///
    /// ```
    /// use arrow_cuda_numba_bridge::{ElementType, Layout};
    ///
    /// let structures = Layout::row_major("|V12".parse()?, vec![5])?;
    /// let field = structures.field(4, ElementType::float(4), &[2])?;
    /// assert_eq!((field.shape(), field.strides()), (&[5, 2][..], &[12, 4][..]));
    /// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
    /// ```
    pub fn field(&self, offset: u64, element: ElementType, shape: &[i64]) -> Result<Self, Error> {
        let own = Self::row_major(element, shape.to_vec())?;
        let structure = u64::from(self.element.size());
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
