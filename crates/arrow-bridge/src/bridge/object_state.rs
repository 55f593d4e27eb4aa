//! Queries of pyarrow's objects: whether they are initialised, and which device holds their data.

use super::Bridge;
use crate::live::Live;

impl Bridge {
    /// Whether the object is a `pyarrow.Array`, `ChunkedArray`, `RecordBatch`, `Table` or `Schema`, and was
    /// ever initialised; `__new__` alone leaves it empty, and pyarrow crashes on it.
    pub fn is_initialised(&self, object: Live<'_>) -> bool {
        // SAFETY: a live object.
        unsafe { (self.api.is_initialised)(object.as_ptr()) }
    }

    /// Whether a `pyarrow.RecordBatchReader` was ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be of that class.
    pub unsafe fn is_initialised_reader(&self, reader: Live<'_>) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.is_initialised_reader)(reader.as_ptr()) }
    }

    /// Whether any data of an array, a chunked array, a record batch, a table or a buffer of pyarrow lies in
    /// device memory, whatever the object reports.
    pub fn is_on_device(&self, object: Live<'_>) -> bool {
        // SAFETY: a live object.
        unsafe { (self.api.is_on_device)(object.as_ptr()) }
    }

    /// The number of the device that the first data of such an object in device memory lies on.
    pub fn device_of(&self, object: Live<'_>) -> Option<u32> {
        // SAFETY: a live object.
        u32::try_from(unsafe { (self.api.device_of)(object.as_ptr()) }).ok()
    }

    /// Whether libarrow was ever given a device of this library: without one, nothing lies there.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        // SAFETY: it takes nothing, and reads one flag.
        unsafe { (self.api.has_devices)() }
    }
}
