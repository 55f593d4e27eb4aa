//! Objects of pyarrow over this project's buffers, and the buffers behind them; queries of pyarrow's objects: whether
//! they are initialised, and which device holds their data.

use super::Bridge;
use crate::fault::{Fault, done};
use crate::ffi::{BatchSource, Contexts, Elements, Span};
use crate::object_ref::{Object, ObjectRef};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::HostPool;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};
use std::ptr;

/// The contents of a new object of a pyarrow subclass.
pub enum Contents<'a> {
    /// For a `pyarrow.Buffer`: a device buffer.
    Buffer(DeviceBuffer),
    /// For a `pyarrow.Buffer`: a slice of the device buffer behind an object, which it keeps alive.
    Slice(ObjectRef<'a>, DeviceBuffer),
    /// For a `pyarrow.Buffer`: the device memory behind any other one.
    MemoryOf(ObjectRef<'a>),
    /// For a `pyarrow.Buffer`: pinned host memory.
    HostBuffer(HostBuffer),
    /// For a `pyarrow.Buffer`: part of the pinned memory behind another one, from an offset on, of a size.
    HostSlice(ObjectRef<'a>, i64, i64),
    /// For a `pyarrow.MemoryPool`: a pool of pinned memory.
    Pool(&'static HostPool),
    /// For a `pyarrow.NativeFile`: a reader of the device buffer behind an object.
    Reader(ObjectRef<'a>),
    /// For a `pyarrow.NativeFile`: a writer of the device buffer behind an object.
    Writer(ObjectRef<'a>),
}

impl Bridge {
    /// Initialises a fresh object.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for an object that is not backed by device memory, or by pinned
    /// memory; [`Kind::Index`](crate::Kind::Index) for a slice outside its buffer;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for a writer of immutable memory.
    ///
    /// # Safety
    ///
    /// `fresh` must be a new object of a subtype of the class that the contents are for, made by the
    /// `tp_new` of that class.
    pub unsafe fn init(&self, fresh: ObjectRef<'_>, contents: Contents<'_>) -> Result<(), Fault> {
        let api = self.api;
        // SAFETY: guaranteed by the caller.
        done(unsafe {
            match contents {
                Contents::Buffer(buffer) => {
                    (api.init_buffer)(fresh, ptr::null_mut(), Box::new(buffer))
                }
                Contents::Slice(parent, slice) => {
                    (api.init_buffer)(fresh, parent.as_ptr(), Box::new(slice))
                }
                Contents::MemoryOf(buffer) => (api.init_from_buffer)(fresh, buffer),
                Contents::HostBuffer(buffer) => (api.init_host_buffer)(fresh, Box::new(buffer)),
                Contents::HostSlice(whole, offset, size) => {
                    (api.init_host_slice)(fresh, whole, offset, size)
                }
                Contents::Pool(pool) => (api.init_pool)(fresh, pool),
                Contents::Reader(buffer) => (api.init_reader)(fresh, buffer),
                Contents::Writer(buffer) => (api.init_writer)(fresh, buffer),
            }
        })
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
        unsafe { (self.api.allocate_host)(size) }.into_result()
    }

    /// The device buffer behind an object that [`init`](Self::init) has given one; `None` for others.
    pub fn buffer_of<'a>(&self, object: ObjectRef<'a>) -> Option<&'a DeviceBuffer> {
        (self.api.buffer_of)(object)
    }

    /// The numbers of a `pyarrow.Array`, and the device buffer that they lie in.  `None` for an array without
    /// values, one that may have nulls, one of other values, and one whose buffer is part of another one or of
    /// another library; there, and for other objects, more has to be asked.
    pub fn elements_of<'a>(&self, array: ObjectRef<'a>) -> Option<(&'a DeviceBuffer, Elements)> {
        let mut elements = Elements::default();
        let values = (self.api.elements_of)(array, &mut elements);
        values.map(|values| (values, elements))
    }

    /// The reader behind a file that [`init`](Self::init) has given one; `None` for others.
    ///
    /// # Safety
    ///
    /// The object must be a `pyarrow.NativeFile`.
    pub unsafe fn reader_of<'a>(&self, file: ObjectRef<'a>) -> Option<&'a BufferReader> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.reader_of)(file) }
    }

    /// The writer behind a file that [`init`](Self::init) has given one; `None` for others.
    ///
    /// # Safety
    ///
    /// As [`reader_of`](Self::reader_of).
    pub unsafe fn writer_of<'a>(&self, file: ObjectRef<'a>) -> Option<&'a BufferWriter> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.writer_of)(file) }
    }

    /// The pool that [`init`](Self::init) has given an object; `None` if it was never initialised.
    ///
    /// # Safety
    ///
    /// The object must be of a class for such pools.
    pub unsafe fn pool_of(&self, object: ObjectRef<'_>) -> Option<&'static HostPool> {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.pool_of)(object) }
    }

    /// The memory that any `pyarrow.Buffer` reports; `None` for other objects, and for
    /// uninitialised ones.
    pub fn span_of(&self, object: ObjectRef<'_>) -> Option<Span> {
        let mut span = Span::default();
        (self.api.span_of)(object, &mut span).then_some(span)
    }

    /// The address of any `pyarrow.Buffer`, which is exposed by this; `None` for other objects, and
    /// for uninitialised ones.
    pub fn expose_address(&self, object: ObjectRef<'_>) -> Option<u64> {
        let mut address = 0;
        (self.api.expose_address)(object, &mut address).then_some(address)
    }

    /// Whether the object is a `pyarrow.Array`, `ChunkedArray`, `RecordBatch`, `Table` or `Schema`, and was
    /// ever initialised; `__new__` alone leaves it empty, and pyarrow crashes on it.
    pub fn is_initialised(&self, object: ObjectRef<'_>) -> bool {
        (self.api.is_initialised)(object)
    }

    /// Whether a `pyarrow.RecordBatchReader` was ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be of that class.
    pub unsafe fn is_initialised_reader(&self, reader: ObjectRef<'_>) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.is_initialised_reader)(reader) }
    }

    /// The origin of the batches of a `pyarrow.RecordBatchReader`.
    ///
    /// # Safety
    ///
    /// The object must be of that class.
    pub unsafe fn source_of(&self, reader: ObjectRef<'_>) -> BatchSource {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.api.source_of)(reader) }
    }

    /// Whether any data of an array, a chunked array, a record batch, a table or a buffer of pyarrow lies in
    /// device memory, whatever the object reports.
    pub fn is_on_device(&self, object: ObjectRef<'_>) -> bool {
        (self.api.is_on_device)(object)
    }

    /// The contexts to which the data of such an object in device memory belongs.
    pub fn contexts_of(&self, object: ObjectRef<'_>) -> Contexts {
        (self.api.contexts_of)(object)
    }

    /// Whether libarrow was ever given a device of this library: without one, nothing lies there.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        (self.api.has_devices)()
    }

    /// A new reference to a `pyarrow.Array` without its data: an empty host buffer replaces each
    /// buffer that is not plain host memory, which becomes its parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised array.
    pub fn skeleton_of(&self, array: ObjectRef<'_>) -> Result<Object, Fault> {
        (self.api.skeleton_of)(array).into_result()
    }

    /// A new reference to a `pyarrow.RecordBatch` of arrays, or a `pyarrow.Table` of chunked
    /// arrays.  Only the columns' types and lengths are checked: libarrow's validation refuses empty
    /// device memory, whose address is 0.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for other columns, or none;
    /// [`Kind::Invalid`](crate::Kind::Invalid) for columns that do not fit.
    pub fn assemble(
        &self,
        schema: ObjectRef<'_>,
        columns: &[ObjectRef<'_>],
    ) -> Result<Object, Fault> {
        let (first, count) = (columns.as_ptr(), columns.len());
        // SAFETY: so many live objects, which are read during the call only.
        unsafe { (self.api.assemble)(schema, first, count) }.into_result()
    }
}
