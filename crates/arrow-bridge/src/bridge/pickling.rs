//! Arrays without their data, and batches and tables of arrays, for pickles.

use super::{Bridge, made};
use crate::fault::Fault;
use crate::ffi::Object;

impl Bridge {
    /// A new reference to a `pyarrow.Array` without its data: an empty host buffer replaces each
    /// buffer that is not plain host memory, which becomes its parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised array.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn skeleton_of(&self, array: Object) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made(|failure| (self.api.skeleton_of)(array, failure)) }
    }

    /// A new reference to a `pyarrow.RecordBatch` of arrays, or a `pyarrow.Table` of chunked
    /// arrays.  Only the columns' types and lengths are checked.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for other columns, or none;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for columns that do not fit.
    ///
    /// # Safety
    ///
    /// The objects must be live; the GIL must be held.
    pub unsafe fn assemble(&self, schema: Object, columns: &[Object]) -> Result<Object, Fault> {
        let (first, count) = (columns.as_ptr(), columns.len());
        // SAFETY: guaranteed by the caller; the columns are read during the call only.
        unsafe { made(|failure| (self.api.assemble)(schema, first, count, failure)) }
    }
}
