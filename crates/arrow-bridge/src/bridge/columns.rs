//! Columns as other libraries have them: by the addresses of their memory.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{FlatArray, NewColumn, RustBuffer};
use crate::object_ref::{Object, ObjectRef};
use std::ptr;

imported! { Bridge[api.columns]:
    unsafe fn describe_flat(
        arrays: *const ObjectRef<'_>,
        count: usize,
        out: *mut FlatArray,
    ) -> Result<(), Fault>;

    /// Takes the buffers over, also on failure.
    unsafe fn table_over(
        schema: ObjectRef<'_>,
        columns: *const NewColumn<'_>,
        count: usize,
        is_table: bool,
    ) -> Result<Object, Fault>;
}

/// A column of a new table.
pub enum Column<'a> {
    /// A `pyarrow.Array`, or of a table also a `pyarrow.ChunkedArray`.
    Ready(ObjectRef<'a>),
    /// An array without parts: its rows, its nulls and its buffers.
    Over(i64, i64, Vec<Option<RustBuffer>>),
}

impl<'a> Column<'a> {
    fn for_cpp(self) -> NewColumn<'a> {
        let mut made =
            NewColumn { ready: None, length: 0, nulls: 0, buffers: [ptr::null_mut(); 3], count: 0 };
        match self {
            Self::Ready(array) => made.ready = Some(array),
            Self::Over(length, nulls, buffers) => {
                (made.length, made.nulls, made.count) = (length, nulls, buffers.len().min(3));
                for (place, buffer) in made.buffers.iter_mut().zip(buffers) {
                    *place =
                        buffer.map_or(ptr::null_mut(), |buffer| Box::into_raw(Box::new(buffer)));
                }
            }
        }
        made
    }
}

impl Bridge {
    /// The memory of each array, or chunked array of one chunk, that has no parts and lies on one device: its default
    /// stream waits for the work that the arrays were imported with, and the memory counts as exposed.  Counts nulls
    /// that nobody has counted.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a bitmap that is too short, and driver errors.
    pub fn memory_of(&self, arrays: &[ObjectRef<'_>]) -> Result<Vec<FlatArray>, Fault> {
        let mut found = vec![FlatArray::default(); arrays.len()];
        // SAFETY: as many live objects as places.
        unsafe { self.describe_flat(arrays.as_ptr(), arrays.len(), found.as_mut_ptr()) }?;
        Ok(found)
    }

    /// A new reference to a `pyarrow.Table`, or to a `pyarrow.RecordBatch`.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another schema or other columns;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for columns that do not fit.
    pub fn new_table(
        &self,
        schema: ObjectRef<'_>,
        columns: Vec<Column<'_>>,
        is_table: bool,
    ) -> Result<Object, Fault> {
        let columns: Vec<_> = columns.into_iter().map(Column::for_cpp).collect();
        // SAFETY: live objects, and buffers that nobody else owns.
        unsafe { self.table_over(schema, columns.as_ptr(), columns.len(), is_table) }
    }
}
