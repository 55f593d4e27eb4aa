//! Copies between the host and devices.

use super::{Bridge, made, made_or_none};
use crate::fault::Fault;
use crate::ffi::{DataKind, Object, RustStream};
use arrow_cuda_context::Stream;
use std::ptr;

impl Bridge {
    /// A new reference to a copy of an object with data in the memory of `destination`: all of its
    /// buffers are allocated and copied together.  `None` for an array or batch that libarrow itself
    /// copies, because neither the data nor the destination is on a GPU.  A null `destination` only has the object checked.
    ///
    /// With a `stream`, the copy is made in its order.  Copies of device memory and of pinned memory to
    /// a device are queued, and retain the data; for others the calling thread waits for the stream.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object and for uninitialised ones,
    /// [`Kind::Invalid`](crate::Kind::Invalid) for buffers that contradict themselves,
    /// [`Kind::Memory`](crate::Kind::Memory) when the host has no room, and driver errors.
    ///
    /// # Safety
    ///
    /// The objects must be live, `destination` a `pyarrow.Device` if it `is_device`, else null or a
    /// `pyarrow.MemoryManager`; the GIL must be held.
    pub unsafe fn copy_to(
        &self,
        object: Object,
        kind: DataKind,
        destination: Object,
        is_device: bool,
        stream: Option<&Stream>,
    ) -> Result<Option<Object>, Fault> {
        let stream = stream.map(|stream| RustStream::new(stream.clone()));
        let stream = stream.as_ref().map_or(ptr::null(), ptr::from_ref);
        let copied = |failure| {
            // SAFETY: guaranteed by the caller; the stream is read during the call only.
            unsafe { (self.api.copy_to)(object, kind, destination, is_device, stream, failure) }
        };
        made_or_none(copied)
    }

    /// A new reference to a copy of a `pyarrow.Buffer` in the memory of `destination`, or if it
    /// `is_view`, to a buffer over the same memory as the destination sees it.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for uninitialised objects,
    /// [`Kind::NotImplemented`](crate::Kind::NotImplemented) if the destination does not see the
    /// memory, and driver errors.
    ///
    /// # Safety
    ///
    /// The objects must be live, `destination` a `pyarrow.Device` if it `is_device`, else a
    /// `pyarrow.MemoryManager`; the GIL must be held.
    pub unsafe fn buffer_to(
        &self,
        buffer: Object,
        destination: Object,
        is_device: bool,
        is_view: bool,
    ) -> Result<Object, Fault> {
        let made_there = |failure| {
            // SAFETY: guaranteed by the caller.
            unsafe { (self.api.buffer_to)(buffer, destination, is_device, is_view, failure) }
        };
        made(made_there)
    }

    /// The number of the GPU that a destination of copies names; `None` for other destinations, and for
    /// uninitialised ones.
    ///
    /// # Safety
    ///
    /// As [`buffer_to`](Self::buffer_to), for the destination.
    pub unsafe fn destination_device(&self, destination: Object, is_device: bool) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        u32::try_from(unsafe { (self.api.destination_device)(destination, is_device) }).ok()
    }
}
