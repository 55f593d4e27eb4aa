//! pyarrow's objects over this project's buffers, and the buffers behind them; queries of pyarrow's objects: whether
//! they are initialised, and which device holds their data.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{
    BatchSource, Contexts, Elements, RustBuffer, RustContext, RustHostBuffer, RustPool, RustReader,
    RustWriter, Span,
};
use crate::object_ref::{Object, ObjectRef};

/// The contents of a new object of a pyarrow subclass.
pub enum Contents<'a> {
    /// For a `pyarrow.Buffer`: a device buffer.
    Buffer(RustBuffer),
    /// For a `pyarrow.Buffer`: a slice of the device buffer behind an object, which it keeps alive.
    Slice(ObjectRef<'a>, RustBuffer),
    /// For a `pyarrow.Buffer`: the device memory behind any other one.
    MemoryOf(ObjectRef<'a>),
    /// For a `pyarrow.Buffer`: pinned host memory.
    HostBuffer(RustHostBuffer),
    /// For a `pyarrow.Buffer`: part of the pinned memory behind another one, from an offset on, of a size.
    HostSlice(ObjectRef<'a>, i64, i64),
    /// For a `pyarrow.MemoryPool`: a pool of pinned memory.
    Pool(&'static RustPool),
    /// For a `pyarrow.NativeFile`: a reader of the device buffer behind an object.
    Reader(ObjectRef<'a>),
    /// For a `pyarrow.NativeFile`: a writer of the device buffer behind an object.
    Writer(ObjectRef<'a>),
}

imported! { Bridge[api.objects]:
    // In each `init_*`, `fresh` is an object of a pyarrow subclass whose base `tp_new` has run.  The function takes
    // ownership of opaque pointers, even on failure.
    /// A slice keeps the C++ buffer behind `parent` alive, which others do not have.
    unsafe fn init_buffer(
        fresh: ObjectRef<'_>,
        parent: Option<ObjectRef<'_>>,
        buffer: Box<RustBuffer>,
    ) -> Result<(), Fault>;
    unsafe fn init_from_buffer(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Result<(), Fault>;
    unsafe fn init_host_buffer(
        fresh: ObjectRef<'_>,
        buffer: Box<RustHostBuffer>,
    ) -> Result<(), Fault>;
    unsafe fn init_host_slice(
        fresh: ObjectRef<'_>,
        whole: ObjectRef<'_>,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault>;
    unsafe fn init_reader(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Result<(), Fault>;
    unsafe fn init_writer(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Result<(), Fault>;
    unsafe fn init_pool(fresh: ObjectRef<'_>, pool: &'static RustPool) -> Result<(), Fault>;

    // Each of these stores what it finds.
    /// Null unless the object is an array with values, all of them numbers and none of them with a bit for being null,
    /// that lie in a buffer of Rust's as it is.
    safe fn find_elements<'a>(array: ObjectRef<'a>, out: &mut Elements) -> Option<&'a RustBuffer>;
    safe fn find_span(buffer: ObjectRef<'_>, out: &mut Span) -> bool;
    safe fn exposed_address(buffer: ObjectRef<'_>, out: &mut u64) -> bool;

    unsafe fn assemble_columns(
        schema: ObjectRef<'_>,
        columns: *const ObjectRef<'_>,
        count: usize,
    ) -> Result<Object, Fault>;

    /// A new `pyarrow.Buffer` over uninitialised host memory of the default pool.
    ///
    /// # Errors
    ///
    /// [`Kind::Memory`](crate::Kind::Memory) when the host has no room.
    ///
    /// # Safety
    ///
    /// The GIL must be held.
    pub unsafe fn allocate_host(size: i64) -> Result<Object, Fault>;

    /// The device buffer behind an object that [`init`](Self::init) has given one; `None` for others.
    pub safe fn buffer_of<'a>(object: ObjectRef<'a>) -> Option<&'a RustBuffer>;

    /// The reader behind a file that [`init`](Self::init) has given one; `None` for others.
    ///
    /// # Safety
    ///
    /// The object must be a `pyarrow.NativeFile`.
    pub unsafe fn reader_of<'a>(file: ObjectRef<'a>) -> Option<&'a RustReader>;

    /// The writer behind a file that [`init`](Self::init) has given one; `None` for others.
    ///
    /// # Safety
    ///
    /// As [`reader_of`](Self::reader_of).
    pub unsafe fn writer_of<'a>(file: ObjectRef<'a>) -> Option<&'a RustWriter>;

    /// The pool that [`init`](Self::init) has given an object; `None` if it was never initialised.
    ///
    /// # Safety
    ///
    /// The object must be of a class for such pools.
    pub unsafe fn pool_of(object: ObjectRef<'_>) -> Option<&'static RustPool>;

    /// Whether the object is a `pyarrow.Array`, `ChunkedArray`, `RecordBatch`, `Table` or `Schema`, and was
    /// ever initialised; `__new__` alone leaves it empty, and pyarrow crashes on it.
    pub safe fn is_initialised(object: ObjectRef<'_>) -> bool;

    /// Whether a `pyarrow.RecordBatchReader` was ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be of that class.
    pub unsafe fn is_initialised_reader(reader: ObjectRef<'_>) -> bool;

    /// The origin of the batches of a `pyarrow.RecordBatchReader`.
    ///
    /// # Safety
    ///
    /// The object must be of that class.
    pub unsafe fn source_of(reader: ObjectRef<'_>) -> BatchSource;

    /// Whether any data of an array, a chunked array, a record batch, a table or a buffer of pyarrow lies in
    /// device memory, whatever the object reports.
    pub safe fn is_on_device(object: ObjectRef<'_>) -> bool;

    /// The contexts to which the data of such an object in device memory belongs.
    pub safe fn contexts_of(object: ObjectRef<'_>) -> Contexts;

    /// The one context to which all data of such an object in device memory belongs; none if there is no such data, or
    /// in several contexts.
    pub safe fn one_context_of<'a>(object: ObjectRef<'a>) -> Option<&'a RustContext>;

    /// Fails if a context is gone to which data of such an object belongs.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub safe fn check_contexts(object: ObjectRef<'_>) -> Result<(), Fault>;

    /// Whether libarrow was ever given a device of this library: without one, nothing lies there.
    #[must_use]
    pub safe fn has_devices() -> bool;

    /// A new reference to a `pyarrow.Array` without its data: an empty host buffer replaces each
    /// buffer that is not plain host memory, which becomes its parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised array.
    pub safe fn skeleton_of(array: ObjectRef<'_>) -> Result<Object, Fault>;
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
        // SAFETY: guaranteed by the caller.
        unsafe {
            match contents {
                Contents::Buffer(buffer) => self.init_buffer(fresh, None, Box::new(buffer)),
                Contents::Slice(parent, slice) => {
                    self.init_buffer(fresh, Some(parent), Box::new(slice))
                }
                Contents::MemoryOf(buffer) => self.init_from_buffer(fresh, buffer),
                Contents::HostBuffer(buffer) => self.init_host_buffer(fresh, Box::new(buffer)),
                Contents::HostSlice(whole, offset, size) => {
                    self.init_host_slice(fresh, whole, offset, size)
                }
                Contents::Pool(pool) => self.init_pool(fresh, pool),
                Contents::Reader(buffer) => self.init_reader(fresh, buffer),
                Contents::Writer(buffer) => self.init_writer(fresh, buffer),
            }
        }
    }

    /// The numbers of a `pyarrow.Array`, and the device buffer that they lie in.  `None` for an array without
    /// values, one that may have nulls, one of other values, and one whose buffer is part of another one or of
    /// another library; there, and for other objects, more has to be asked.
    pub fn elements_of<'a>(&self, array: ObjectRef<'a>) -> Option<(&'a RustBuffer, Elements)> {
        let mut elements = Elements::default();
        let values = self.find_elements(array, &mut elements);
        values.map(|values| (values, elements))
    }

    /// The memory that any `pyarrow.Buffer` reports; `None` for other objects, and for
    /// uninitialised ones.
    pub fn span_of(&self, object: ObjectRef<'_>) -> Option<Span> {
        let mut span = Span::default();
        self.find_span(object, &mut span).then_some(span)
    }

    /// The address of any `pyarrow.Buffer`, which is exposed by this; `None` for other objects, and
    /// for uninitialised ones.
    pub fn expose_address(&self, object: ObjectRef<'_>) -> Option<u64> {
        let mut address = 0;
        self.exposed_address(object, &mut address).then_some(address)
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
        // SAFETY: `count` live objects, which are read during the call only.
        unsafe { self.assemble_columns(schema, first, count) }
    }
}
