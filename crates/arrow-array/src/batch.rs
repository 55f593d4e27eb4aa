//! A record batch in device memory.

use crate::error::{check_range, invalid};
use crate::{ArrayParts, DeviceArray, Error};
use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchOptions, StructArray};
use arrow_cuda_context::Context;
use arrow_schema::{DataType, Schema, SchemaRef};
use std::sync::Arc;

/// A record batch whose columns lie in the memory of one device: what
/// [`RecordBatch`](arrow_array::RecordBatch) is on the host, with methods of the same names.
///
/// Clones and slices share the memory.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use arrow_cuda_array::DeviceRecordBatch;
/// use arrow_cuda_context::Context;
///
/// let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
/// let batch = RecordBatch::try_from_iter([("x", column)])?;
/// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
/// assert_eq!((there.num_rows(), there.num_columns()), (3, 1));
/// assert_eq!(there.column_by_name("x").map(|column| column.len()), Some(3));
/// assert_eq!(there.slice(1, 2)?.to_host()?, batch.slice(1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceRecordBatch {
    schema: SchemaRef,
    context: Context,
    columns: Vec<DeviceArray>,
    num_rows: usize,
}

impl DeviceRecordBatch {
    /// A batch of columns, which are not copied.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::{DeviceArray, DeviceRecordBatch};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::{DataType, Field, Schema};
    ///
    /// let column = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2]))?;
    /// let schema = Schema::new(vec![Field::new("x", DataType::Int32, false)]);
    /// let batch = DeviceRecordBatch::try_new(schema.into(), vec![column])?;
    /// assert_eq!(batch.column(0).len(), 2);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for columns that do not fit the schema: their number, types, lengths, or nulls in a field
    /// without them; for columns of several contexts; and for no columns, which
    /// [`from_struct`](Self::from_struct) takes.  Driver errors where nulls have to be counted.
    pub fn try_new(schema: SchemaRef, columns: Vec<DeviceArray>) -> Result<Self, Error> {
        if columns.len() != schema.fields().len() {
            let (found, expected) = (columns.len(), schema.fields().len());
            return invalid(format!("{found} columns, for a schema with {expected} fields"));
        }
        let Some(first) = columns.first() else {
            return invalid("a batch without columns has no rows: from_struct takes their number");
        };
        let (context, num_rows) = (first.context().clone(), first.len());
        for (field, column) in schema.fields().iter().zip(&columns) {
            let name = field.name();
            if column.data_type() != field.data_type() {
                let (found, expected) = (column.data_type(), field.data_type());
                return invalid(format!(
                    "column {name} is of {found}, and its field of {expected}"
                ));
            }
            if column.len() != num_rows {
                let found = column.len();
                return invalid(format!(
                    "column {name} has {found} rows, and the first {num_rows}"
                ));
            }
            if !column.context().is_same(&context) {
                return invalid(format!(
                    "column {name} lies in another context than the first: copy_to brings it there"
                ));
            }
        }
        Self { schema, context, columns, num_rows }.without_impossible_nulls()
    }

    /// The batch whose columns are the fields of an array of structs, which is not copied.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{StructArray, record_batch};
    /// use arrow_cuda_array::{DeviceArray, DeviceRecordBatch};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::Schema;
    ///
    /// let rows = StructArray::from(record_batch!(("x", Int64, [1, 2, 3]))?);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &rows)?;
    /// let schema = Arc::new(Schema::new(rows.fields().clone()));
    /// let batch = DeviceRecordBatch::from_struct(schema, &there.slice(1, 2)?)?;
    /// assert_eq!((batch.num_rows(), batch.num_columns()), (2, 1));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an array that is not of structs with the schema's fields, or has nulls, and for nulls in
    /// a field without them; driver errors where nulls have to be counted.
    pub fn from_struct(schema: SchemaRef, rows: &DeviceArray) -> Result<Self, Error> {
        match rows.data_type() {
            DataType::Struct(fields) if fields == schema.fields() => {}
            other => return invalid(format!("a record batch of {other}")),
        }
        match rows.null_count()? {
            0 => {}
            count => return invalid(format!("a record batch with {count} rows that are null")),
        }
        let columns = rows.children().map(|column| column.slice(rows.offset(), rows.len()));
        let columns = columns.collect::<Result<_, _>>()?;
        let (context, num_rows) = (rows.context().clone(), rows.len());
        Self { schema, context, columns, num_rows }.without_impossible_nulls()
    }

    /// Fails if a column has nulls that its field does not allow.
    fn without_impossible_nulls(self) -> Result<Self, Error> {
        for (field, column) in self.schema.fields().iter().zip(&self.columns) {
            let may_have_nulls = field.is_nullable() || field.data_type() == &DataType::Null;
            if !may_have_nulls && column.null_count()? > 0 {
                return invalid(format!(
                    "column {} has nulls, and its field says that it has none",
                    field.name()
                ));
            }
        }
        Ok(self)
    }

    /// The rows as an array of structs, which shares the memory.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Int64, [4, 5, 6]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let rows = there.to_struct()?;
    /// assert_eq!((rows.len(), rows.children().len()), (3, 2));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a batch whose parts do not fit together, which none of its constructors makes.
    pub fn to_struct(&self) -> Result<DeviceArray, Error> {
        let data_type = DataType::Struct(self.schema.fields().clone());
        let children = self.columns.clone();
        let parts = ArrayParts { children, ..ArrayParts::new(data_type, self.num_rows) };
        DeviceArray::new(&self.context, parts)
    }

    /// Copies a batch to the device, by one allocation and one copy.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Utf8, ["one", "two", "three"]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.column(1).buffers()[1].to_vec()?, b"onetwothree");
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::from_host`].
    pub fn from_host(context: &Context, batch: &RecordBatch) -> Result<Self, Error> {
        let rows = DeviceArray::from_host(context, &StructArray::from(batch.clone()))?;
        Self::from_struct(batch.schema(), &rows)
    }

    /// Copies the batch to another context, perhaps of another device, by one allocation.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let first = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let copy = first.copy_to(&Context::primary(Device::count()? - 1)?)?;
    /// assert_eq!(copy.to_host()?, batch);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::copy_to`].
    pub fn copy_to(&self, context: &Context) -> Result<Self, Error> {
        Self::from_struct(self.schema(), &self.to_struct()?.copy_to(context)?)
    }

    /// Copies the batch to the host, and validates it there.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.to_host()?, batch);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::to_host`].
    pub fn to_host(&self) -> Result<RecordBatch, Error> {
        let rows = self.to_struct()?.to_host()?;
        let columns = rows.as_struct_opt().map_or(&[][..], StructArray::columns).to_vec();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(self.schema(), columns, &options)?)
    }

    /// The context that the memory belongs to.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let there = DeviceRecordBatch::from_host(&context, &record_batch!(("x", Int64, [1, 2]))?)?;
    /// assert_eq!(there.context(), &context);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The schema.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.schema(), batch.schema());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The schema, by reference.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.schema_ref().field(0).name(), "x");
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn schema_ref(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.num_rows(), 3);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// The number of columns.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Int64, [4, 5, 6]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.num_columns(), 2);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// Whether both have the same schema and the same rows: see [`DeviceArray::equals`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 1]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert!(there.slice(0, 1)?.equals(&there.slice(2, 1)?)?);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`to_host`](Self::to_host).
    pub fn equals(&self, other: &Self) -> Result<bool, Error> {
        if self.schema_ref() != other.schema_ref() || self.num_rows != other.num_rows {
            return Ok(false);
        }
        for (column, other) in self.columns.iter().zip(&other.columns) {
            if !column.equals(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether there are no rows.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert!(!there.is_empty() && there.slice(3, 0)?.is_empty());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.num_rows == 0
    }

    /// The columns, each with as many elements as there are rows.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Int64, [4, 5, 6]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert!(there.columns().iter().all(|column| column.len() == 3));
    /// assert!(there.columns().get(2).is_none());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn columns(&self) -> &[DeviceArray] {
        &self.columns
    }

    /// A column by its number.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::DataType;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2]), ("y", Utf8, ["one", "two"]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.column(1).data_type(), &DataType::Utf8);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such column, as with a slice: `columns().get(index)` does not.
    #[expect(clippy::indexing_slicing, reason = "as arrow-rs' method of this name, and documented")]
    pub fn column(&self, index: usize) -> &DeviceArray {
        &self.columns[index]
    }

    /// The first column with a name.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert!(there.column_by_name("x").is_some_and(|column| column.len() == 3));
    /// assert!(there.column_by_name("y").is_none());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn column_by_name(&self, name: &str) -> Option<&DeviceArray> {
        let (index, _) = self.schema.column_with_name(name)?;
        self.columns.get(index)
    }

    /// The batch of these columns, in this order, which shares the memory.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2]), ("y", Utf8, ["one", "two"]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.project(&[1, 0])?.to_host()?, batch.project(&[1, 0])?);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Arrow`] when there is no such column.
    pub fn project(&self, indices: &[usize]) -> Result<Self, Error> {
        let schema: Arc<Schema> = self.schema.project(indices)?.into();
        let columns =
            indices.iter().filter_map(|index| self.columns.get(*index).cloned()).collect();
        Ok(Self { schema, columns, ..self.clone() })
    }

    /// The rows from `offset` on, as many as `length` says, which share the memory.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// assert_eq!(there.slice(1, 2)?.to_host()?, batch.slice(1, 2));
    /// assert!(there.slice(2, 2).is_err());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the batch does not have them.
    pub fn slice(&self, offset: usize, length: usize) -> Result<Self, Error> {
        check_range("rows", offset as u64, length as u64, self.num_rows as u64)?;
        let columns = self.columns.iter().map(|column| column.slice(offset, length));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self { columns, num_rows: length, ..self.clone() })
    }

    /// The schema, the columns, and the number of rows.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let (schema, columns, num_rows) = there.into_parts();
    /// assert_eq!((columns.len(), num_rows), (1, 3));
    /// assert_eq!(DeviceRecordBatch::try_new(schema, columns)?.to_host()?, batch);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn into_parts(self) -> (SchemaRef, Vec<DeviceArray>, usize) {
        (self.schema, self.columns, self.num_rows)
    }
}
