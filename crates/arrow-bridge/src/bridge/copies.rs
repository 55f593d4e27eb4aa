//! Copies between the host and devices.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{DataKind, RustStream};
use crate::object_ref::{Destination, Object, ObjectRef};

imported! { Bridge[api.copies]:
    /// A new reference to a copy of an object with data in the memory of `destination`: all of its
    /// buffers are allocated and copied together.  `None` for an array or batch that libarrow itself
    /// copies, because neither the data nor the destination is on a GPU; and without a destination, which
    /// only has the object checked.
    ///
    /// With a `stream`, the copy is made in its order.  Copies of device memory and of pinned memory to
    /// a device are queued, and retain the data; for others the calling thread waits for the stream.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object and for uninitialised ones,
    /// [`Kind::Invalid`](crate::Kind::Invalid) for buffers that contradict themselves,
    /// [`Kind::Memory`](crate::Kind::Memory) when the host has no room, and driver errors.
    pub safe fn copy_to(
        object: ObjectRef<'_>,
        kind: DataKind,
        destination: Option<&Destination<'_>>,
        stream: Option<&RustStream>,
    ) -> Result<Option<Object>, Fault>;

    /// A new reference to a copy on the same device of what an object reaches, if it is a slice that reaches little
    /// of its memory; else `None`.
    ///
    /// # Errors
    ///
    /// As [`copy_to`](Self::copy_to).
    pub safe fn copy_slice(object: ObjectRef<'_>, kind: DataKind) -> Result<Option<Object>, Fault>;

    /// A new reference to one array of all chunks of a `pyarrow.ChunkedArray` on a device, or to a
    /// `pyarrow.Table` of such columns.  `None` for data on the host.  A column of one chunk is not copied.
    ///
    /// # Errors
    ///
    /// As [`copy_to`](Self::copy_to); [`Kind::Invalid`](crate::Kind::Invalid) for chunks on several devices,
    /// and offsets that would not fit their type.
    pub safe fn combine(object: ObjectRef<'_>, kind: DataKind) -> Result<Option<Object>, Fault>;

    /// A new reference to a copy of a `pyarrow.Buffer` in the memory of `destination`, or if it
    /// `is_view`, to a buffer over the same memory as the destination sees it.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for uninitialised objects,
    /// [`Kind::NotImplemented`](crate::Kind::NotImplemented) if the destination does not see the
    /// memory, and driver errors.
    pub safe fn buffer_to(
        buffer: ObjectRef<'_>,
        destination: &Destination<'_>,
        is_view: bool,
    ) -> Result<Object, Fault>;

    /// -1 for none.
    safe fn device_of_destination(destination: &Destination<'_>) -> i32;
}

impl Bridge {
    /// The number of the GPU that a destination of copies names; `None` for other destinations, and for
    /// uninitialised ones.
    pub fn destination_device(&self, destination: &Destination<'_>) -> Option<u32> {
        u32::try_from(self.device_of_destination(destination)).ok()
    }
}
