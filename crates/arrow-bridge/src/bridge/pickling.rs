//! Arrays without their data, and batches and tables of arrays, for pickles.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::Object;
use crate::live::Live;

impl Bridge {
    /// A new reference to a `pyarrow.Array` without its data: an empty host buffer replaces each
    /// buffer that is not plain host memory, which becomes its parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised array.
    pub fn skeleton_of(&self, array: Live<'_>) -> Result<Object, Fault> {
        // SAFETY: a live object.
        unsafe { (self.api.skeleton_of)(array.as_ptr()) }.into_result()
    }

    /// A new reference to a `pyarrow.RecordBatch` of arrays, or a `pyarrow.Table` of chunked
    /// arrays.  Only the columns' types and lengths are checked: libarrow's validation refuses empty
    /// device memory, whose address is 0.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for other columns, or none;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for columns that do not fit.
    pub fn assemble(&self, schema: Live<'_>, columns: &[Live<'_>]) -> Result<Object, Fault> {
        let pointers: Vec<_> = columns.iter().map(|column| column.as_ptr()).collect();
        let (first, count) = (pointers.as_ptr(), pointers.len());
        // SAFETY: live objects; the columns are read during the call only.
        unsafe { (self.api.assemble)(schema.as_ptr(), first, count) }.into_result()
    }
}
