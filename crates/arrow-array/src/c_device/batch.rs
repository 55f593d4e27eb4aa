//! Record batches: arrays of structs, and a schema beside them.

use super::FFI_ArrowDeviceArray;
use crate::{DeviceArrayData, DeviceRecordBatch, Error};
use arrow_cuda_context::{Context, Stream};
use arrow_schema::{DataType, SchemaRef};

impl DeviceRecordBatch {
    /// The structure of the C Device interface, as that of an array of structs: see
    /// [`DeviceArrayData::export`].
    ///
    /// # Errors
    ///
    /// As [`DeviceArrayData::export`].
    pub fn export(&self) -> Result<FFI_ArrowDeviceArray, Error> {
        self.to_struct()?.export()
    }

    /// As [`export`](Self::export), for a batch that work on a stream may still write to: see
    /// [`DeviceArrayData::export_on`].
    ///
    /// # Errors
    ///
    /// As [`DeviceArrayData::export_on`].
    pub fn export_on(&self, stream: &Stream) -> Result<FFI_ArrowDeviceArray, Error> {
        self.to_struct()?.export_on(stream)
    }

    /// Takes ownership of another library's batch: see [`DeviceArrayData::import`].
    ///
    /// # Safety
    ///
    /// As for [`DeviceArrayData::import`], with the type of structs of the schema's fields.
    ///
    /// # Errors
    ///
    /// As for [`DeviceArrayData::import`] and [`from_struct`](Self::from_struct).
    pub unsafe fn import(
        context: &Context,
        array: FFI_ArrowDeviceArray,
        schema: SchemaRef,
    ) -> Result<Self, Error> {
        let data_type = DataType::Struct(schema.fields().clone());
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { DeviceArrayData::import(context, array, &data_type) }?;
        Self::from_struct(schema, &rows)
    }

    /// As [`import`](Self::import); later work on `stream` waits for the structure's event, too: see
    /// [`DeviceArrayData::import_on`].
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
        let rows = unsafe { DeviceArrayData::import_on(stream, array, &data_type) }?;
        Self::from_struct(schema, &rows)
    }
}
