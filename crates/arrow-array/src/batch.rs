//! A record batch in device memory.

use crate::{DeviceArrayData, Error};
use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchOptions, StructArray};
use arrow_cuda_context::Context;
use arrow_schema::{DataType, SchemaRef};

/// A record batch whose columns lie in the memory of one device.
///
/// It is a [`DeviceArrayData`] of structs without nulls, with the schema that their fields come from.
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
/// let there = DeviceRecordBatch::copy_from(&Context::primary(0)?, &batch)?;
/// assert_eq!((there.num_rows(), there.num_columns()), (3, 1));
/// assert_eq!(there.slice(1, 2)?.to_record_batch()?, batch.slice(1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceRecordBatch {
    schema: SchemaRef,
    rows: DeviceArrayData,
}

impl DeviceRecordBatch {
    /// A batch of columns.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an array that is not of structs with the schema's fields, or has nulls;
    /// driver errors where its nulls have to be counted.
    pub fn new(schema: SchemaRef, rows: DeviceArrayData) -> Result<Self, Error> {
        match rows.data_type() {
            DataType::Struct(fields) if fields == schema.fields() => {}
            other => return Err(Error::Invalid(format!("a record batch of {other}"))),
        }
        match rows.null_count()? {
            0 => Ok(Self { schema, rows }),
            count => Err(Error::Invalid(format!("a record batch with {count} rows that are null"))),
        }
    }

    /// Copies a batch to the device, by one allocation and one copy.
    ///
    /// # Errors
    ///
    /// As [`DeviceArrayData::copy_from`].
    pub fn copy_from(context: &Context, batch: &RecordBatch) -> Result<Self, Error> {
        let rows = DeviceArrayData::copy_from(context, &StructArray::from(batch.clone()))?;
        Self::new(batch.schema(), rows)
    }

    /// Copies the batch to the host, and validates it there.
    ///
    /// # Errors
    ///
    /// As [`DeviceArrayData::to_array`].
    pub fn to_record_batch(&self) -> Result<RecordBatch, Error> {
        let rows = self.rows.to_array()?;
        let columns = rows.as_struct_opt().map_or(&[][..], StructArray::columns).to_vec();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// The schema.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows.
    pub fn num_rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of columns.
    pub fn num_columns(&self) -> usize {
        self.schema.fields().len()
    }

    /// The columns, each with as many elements as there are rows.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = Result<DeviceArrayData, Error>> {
        let (offset, length) = (self.rows.offset(), self.rows.len());
        self.rows.children().map(move |column| column.slice(offset, length))
    }

    /// The rows, as an array of structs.
    pub fn rows(&self) -> &DeviceArrayData {
        &self.rows
    }

    /// The rows from `offset` on, as many as `length` says, which share the memory.
    ///
    /// # Errors
    ///
    /// As [`DeviceArrayData::slice`].
    pub fn slice(&self, offset: usize, length: usize) -> Result<Self, Error> {
        let rows = self.rows.slice(offset, length)?;
        Ok(Self { schema: self.schema.clone(), rows })
    }
}
