//! The C Device interface: arrays and batches, and streams of them.

use super::Bridge;
use crate::fault::Fault;
use crate::object_ref::{Object, ObjectRef};
use std::ffi::c_void;

imported! { Bridge[api.c_data]:
    /// Prepares an array, or a record batch if it `is_batch`, for pyarrow's export.  It counts unknown
    /// nulls, since libarrow would read the bitmap on the host, and replaces empty host buffers with
    /// empty ones of the device.  Returns a new reference to the replacement, or `None` if the object
    /// needs no change.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object and for an uninitialised one,
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a bitmap that is too short, and driver errors.
    pub safe fn prepare(object: ObjectRef<'_>, is_batch: bool) -> Result<Option<Object>, Fault>;

    /// Counts the unknown nulls of an array or record batch, which libarrow would count on the host.
    /// Does nothing for other objects.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a bitmap that is too short, and driver errors.
    pub safe fn count_nulls(object: ObjectRef<'_>) -> Result<(), Fault>;

    /// A new reference to a `pyarrow.RecordBatch` that reports the device that its data lies on; `None`
    /// if this one does, has no data there, or is another object.  Counts the nulls of device memory,
    /// which libarrow would count on the host.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a bitmap that is too short, and driver errors.
    pub safe fn placed(batch: ObjectRef<'_>) -> Result<Option<Object>, Fault>;

    /// Has the default stream of an array's device wait for the work that the array was imported with,
    /// and marks its memory as exposed: for a consumer that works on that stream.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub safe fn make_ready(array: ObjectRef<'_>) -> Result<(), Fault>;

    /// Adds an event to an array or record batch that pyarrow has exported, for its pending work:
    /// the work that the array itself was imported with, and that of the device's default stream.
    /// `array` is an `ArrowDeviceArray*`, `schema` an `ArrowSchema*` or null.
    ///
    /// # Errors
    ///
    /// Driver errors; both structures are released then.
    ///
    /// # Safety
    ///
    /// `object` and the structures must be those of one export.
    pub unsafe fn finish_export(
        object: ObjectRef<'_>,
        array: *mut c_void,
        schema: *mut c_void,
    ) -> Result<(), Fault>;

    /// Waits for an array's event if libarrow reads the data during the import, and counts unknown
    /// nulls of an array that becomes a record batch.  `array` is an `ArrowDeviceArray*`; its type
    /// is that of `schema`, an `ArrowSchema*`, or if that is null, of `described`, a
    /// `pyarrow.DataType` or `pyarrow.Schema`.
    ///
    /// Returns a new reference to the type or schema to import with, if `schema` was consumed.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for an invalid event or schema, and driver errors;
    /// both structures are released then.
    ///
    /// # Safety
    ///
    /// The structures must be valid for import, of which only the array's own fields are trusted,
    /// not its children.
    pub unsafe fn prepare_import(
        array: *mut c_void,
        schema: *mut c_void,
        described: Option<ObjectRef<'_>>,
        is_batch: bool,
    ) -> Result<Option<Object>, Fault>;

    /// A new reference to the replacement of the array or record batch that libarrow has imported
    /// from `array`, an `ArrowDeviceArray*`; `None` if the object needs no change.
    ///
    /// libarrow replaces empty buffers with host buffers, and then refuses to export an array with
    /// memory of several devices.
    ///
    /// # Errors
    ///
    /// When libarrow or pyarrow cannot create the object.
    ///
    /// # Safety
    ///
    /// `object` must be the import of the structure, of which only the device is read.
    pub unsafe fn finish_import(
        object: ObjectRef<'_>,
        array: *const c_void,
    ) -> Result<Option<Object>, Fault>;

    /// Exports a `pyarrow.Table`, a `pyarrow.ChunkedArray`, or if it `is_reader` a
    /// `pyarrow.RecordBatchReader`, as a stream of the C Device interface.  A reader is read up to the
    /// first batch with memory, on whose device the stream is.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised one;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for data on several devices; those of the reader.
    ///
    /// # Safety
    ///
    /// A reader must be of its class, and `stream` a released `ArrowDeviceArrayStream`.
    pub unsafe fn export_stream(
        object: ObjectRef<'_>,
        is_reader: bool,
        stream: *mut c_void,
    ) -> Result<(), Fault>;

    /// Initialises a fresh `pyarrow.RecordBatchReader` with the batches of a stream of the C Device
    /// interface, which is taken over, also on failure.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a released stream; what its producer says.
    ///
    /// # Safety
    ///
    /// `fresh` must be a new object of the class, and `stream` an `ArrowDeviceArrayStream`.
    pub unsafe fn import_stream(fresh: ObjectRef<'_>, stream: *mut c_void) -> Result<(), Fault>;

    /// A new reference to a `pyarrow.ChunkedArray` of all arrays of such a stream.
    ///
    /// # Errors
    ///
    /// As [`import_stream`](Self::import_stream).
    ///
    /// # Safety
    ///
    /// `stream` must be such a stream; the GIL must be held.
    pub unsafe fn import_chunks(stream: *mut c_void) -> Result<Object, Fault>;
}
