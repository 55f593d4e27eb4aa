//! Objects of pyarrow over this project's buffers, and the buffers behind them.

use super::{Bridge, filled, made};
use crate::fault::Fault;
use crate::ffi::{Object, Span};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};

impl Bridge {
    /// Initialises a fresh object of a `pyarrow.Buffer` subtype with a device buffer.
    ///
    /// # Errors
    ///
    /// When libarrow cannot create its object.
    ///
    /// # Safety
    ///
    /// `fresh` must be a new object of the base type's `tp_new`; the GIL must be held.
    pub unsafe fn init_buffer(&self, fresh: Object, buffer: DeviceBuffer) -> Result<(), Fault> {
        let buffer = Box::into_raw(Box::new(buffer));
        // SAFETY: guaranteed by the caller; the buffer is handed over.
        unsafe { filled(|failure| (self.api.init_buffer)(fresh, buffer, failure)) }
    }

    /// Initialises a fresh object as [`init_buffer`](Self::init_buffer), with a slice of the buffer behind `parent`.
    ///
    /// # Errors
    ///
    /// When libarrow cannot create its object.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer); `parent` must be an object over a device buffer.
    pub unsafe fn init_slice(
        &self,
        fresh: Object,
        parent: Object,
        slice: DeviceBuffer,
    ) -> Result<(), Fault> {
        let slice = Box::into_raw(Box::new(slice));
        // SAFETY: guaranteed by the caller; the slice is handed over.
        unsafe { filled(|failure| (self.api.init_slice)(fresh, parent, slice, failure)) }
    }

    /// Initialises a fresh object as [`init_buffer`](Self::init_buffer), with the device memory behind any
    /// `pyarrow.Buffer`.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) when the buffer has no device memory.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_from_buffer(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.init_from_buffer)(fresh, buffer, failure)) }
    }

    /// Initialises a fresh object of a `pyarrow.Buffer` subtype with pinned host memory.
    ///
    /// # Errors
    ///
    /// When libarrow cannot create its object.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_host_buffer(&self, fresh: Object, buffer: HostBuffer) -> Result<(), Fault> {
        let buffer = Box::into_raw(Box::new(buffer));
        // SAFETY: guaranteed by the caller; the buffer is handed over.
        unsafe { filled(|failure| (self.api.init_host_buffer)(fresh, buffer, failure)) }
    }

    /// Initialises a fresh object of a `pyarrow.Buffer` subtype with a slice of a buffer over
    /// pinned memory.
    ///
    /// # Errors
    ///
    /// [`Kind::Index`](crate::Kind::Index) when the slice does not lie within the buffer,
    /// [`Kind::Type`](crate::Kind::Type) when the memory is not pinned.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_host_slice(
        &self,
        fresh: Object,
        whole: Object,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.init_host_slice)(fresh, whole, offset, size, failure)) }
    }

    /// Initialises a fresh object of a `pyarrow.MemoryPool` subtype with a pool of pinned memory.
    ///
    /// # Errors
    ///
    /// When libarrow cannot create its object.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_pool(&self, fresh: Object, pool: &'static HostPool) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller; the pool lives forever.
        unsafe { filled(|failure| (self.api.init_pool)(fresh, pool, failure)) }
    }

    /// Initialises a fresh object of a `pyarrow.NativeFile` subtype that reads a device buffer.
    ///
    /// # Errors
    ///
    /// When `buffer` is not a device buffer.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_reader(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.init_reader)(fresh, buffer, failure)) }
    }

    /// Initialises a fresh object of a `pyarrow.NativeFile` subtype that writes a device buffer.
    ///
    /// # Errors
    ///
    /// When `buffer` is not a device buffer, or not mutable.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_writer(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.init_writer)(fresh, buffer, failure)) }
    }

    /// A new `pyarrow.Buffer` over uninitialised host memory of the default pool.
    ///
    /// # Errors
    ///
    /// [`Kind::Memory`](crate::Kind::Memory) when the host has no room.
    ///
    /// # Safety
    ///
    /// The GIL must be held.
    pub unsafe fn allocate_host(&self, size: i64) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made(|failure| (self.api.allocate_host)(size, failure)) }
    }

    /// The device buffer behind a `pyarrow.Buffer` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn buffer_of<'a>(&self, object: Object) -> Option<&'a DeviceBuffer> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.buffer_of)(object).as_ref() }
    }

    /// The reader behind a `pyarrow.NativeFile` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn reader_of<'a>(&self, object: Object) -> Option<&'a BufferReader> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.reader_of)(object).as_ref() }
    }

    /// The writer behind a `pyarrow.NativeFile` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn writer_of<'a>(&self, object: Object) -> Option<&'a BufferWriter> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.writer_of)(object).as_ref() }
    }

    /// The pool behind an object of [`init_pool`](Self::init_pool); `None` if it was never initialised.
    ///
    /// # Safety
    ///
    /// The object must be of the class; the GIL must be held.
    pub unsafe fn pool_of(&self, object: Object) -> Option<&'static HostPool> {
        // SAFETY: guaranteed by the caller; the pool lives forever.
        unsafe { (self.api.pool_of)(object).as_ref() }
    }

    /// The memory that any `pyarrow.Buffer` reports; `None` for other objects, and for
    /// uninitialised ones.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn span_of(&self, object: Object) -> Option<Span> {
        let mut span = Span::default();
        // SAFETY: guaranteed by the caller, and a writable place.
        unsafe { (self.api.span_of)(object, &raw mut span) }.then_some(span)
    }

    /// The address of any `pyarrow.Buffer`, which is exposed by this; `None` for other objects, and
    /// for uninitialised ones.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn expose_address(&self, object: Object) -> Option<u64> {
        let mut address = 0;
        // SAFETY: guaranteed by the caller, and a writable place.
        unsafe { (self.api.expose_address)(object, &raw mut address) }.then_some(address)
    }
}
