//! Record batches: arrays of structs, and a schema beside them.

use super::FFI_ArrowDeviceArray;
use crate::{DeviceArray, DeviceRecordBatch, Error};
use arrow_cuda_context::{Context, Stream};
use arrow_schema::{DataType, SchemaRef};

impl DeviceRecordBatch {
    /// The structure of the C Device interface, as that of an array of structs: see
    /// [`DeviceArray::export`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::{DeviceRecordBatch, c_device};
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]), ("y", Int64, [4, 5, 6]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let structure = there.export()?;
    /// assert_eq!((structure.array.len(), structure.array.num_children()), (3, 2));
    /// assert_eq!((structure.device_type, structure.device_id), (c_device::CUDA, 0));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::export`].
    pub fn export(&self) -> Result<FFI_ArrowDeviceArray, Error> {
        self.to_struct()?.export()
    }

    /// As [`export`](Self::export), for a batch that work on a stream may still write to: see
    /// [`DeviceArray::export_on`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_buffer::CopyOrder;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::non_blocking(&context)?;
    /// let there = DeviceRecordBatch::from_host(&context, &record_batch!(("x", Int64, [1, 2]))?)?;
    /// there.column(0).buffers()[0].fill_in(CopyOrder::On(&stream), 0)?;
    /// let structure = there.export_on(&stream)?; // its consumers see zeros
    /// assert_eq!(structure.array.len(), 2);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceArray::export_on`].
    pub fn export_on(&self, stream: &Stream) -> Result<FFI_ArrowDeviceArray, Error> {
        self.to_struct()?.export_on(stream)
    }

    /// Takes ownership of another library's batch: see [`DeviceArray::import`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let structure = DeviceRecordBatch::from_host(&context, &batch)?.export()?;
    /// // SAFETY: the structure was made above, with this schema.
    /// let imported = unsafe { DeviceRecordBatch::import(&context, structure, batch.schema()) }?;
    /// assert_eq!(imported.to_host()?, batch);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`DeviceArray::import`], with the type of structs of the schema's fields.
    ///
    /// # Errors
    ///
    /// As for [`DeviceArray::import`] and [`from_struct`](Self::from_struct).
    pub unsafe fn import(
        context: &Context,
        array: FFI_ArrowDeviceArray,
        schema: SchemaRef,
    ) -> Result<Self, Error> {
        let data_type = DataType::Struct(schema.fields().clone());
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { DeviceArray::import(context, array, &data_type) }?;
        Self::from_struct(schema, &rows)
    }

    /// As [`import`](Self::import); later work on `stream` waits for the structure's event, too: see
    /// [`DeviceArray::import_on`].
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (ours, theirs) = (Stream::non_blocking(&context)?, Stream::non_blocking(&context)?);
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let structure = DeviceRecordBatch::from_host(&context, &batch)?.export_on(&theirs)?;
    /// // SAFETY: the structure was made above, with this schema.
    /// let imported = unsafe { DeviceRecordBatch::import_on(&ours, structure, batch.schema()) }?;
    /// assert_eq!(imported.to_host()?, batch);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As [`import`](Self::import).
    ///
    /// # Errors
    ///
    /// As [`import`](Self::import).
    pub unsafe fn import_on(
        stream: &Stream,
        array: FFI_ArrowDeviceArray,
        schema: SchemaRef,
    ) -> Result<Self, Error> {
        let data_type = DataType::Struct(schema.fields().clone());
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { DeviceArray::import_on(stream, array, &data_type) }?;
        Self::from_struct(schema, &rows)
    }
}
