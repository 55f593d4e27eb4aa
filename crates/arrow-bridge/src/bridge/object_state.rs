//! Queries of pyarrow's objects: whether they are initialised, and which device holds their data.

use super::Bridge;
use crate::ffi::Object;

impl Bridge {
    /// Whether a `pyarrow.RecordBatch` was ever initialised; `__new__` alone leaves it empty, and
    /// pyarrow crashes on it.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_batch(&self, object: Object) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.has_batch)(object) }
    }

    /// Whether a `pyarrow.Schema` was ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_schema(&self, object: Object) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.has_schema)(object) }
    }

    /// Whether the object is a `pyarrow.Array`, `ChunkedArray`, `RecordBatch` or `Table`, and was
    /// ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_arrays(&self, object: Object) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.has_arrays)(object) }
    }

    /// Whether a `pyarrow.RecordBatchReader` was ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be live, and of that class; the GIL must be held.
    pub unsafe fn has_reader(&self, reader: Object) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.has_reader)(reader) }
    }

    /// Whether any data of an array, a chunked array, a record batch, a table or a buffer of pyarrow lies in
    /// device memory.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn is_on_device(&self, object: Object) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.is_on_device)(object) }
    }

    /// The number of the device that the first data of such an object in device memory lies on.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn device_of(&self, object: Object) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        u32::try_from(unsafe { (self.api.device_of)(object) }).ok()
    }

    /// Whether libarrow was ever given a device of this library: without one, nothing lies there.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        // SAFETY: it takes nothing, and reads one flag.
        unsafe { (self.api.has_devices)() }
    }
}
