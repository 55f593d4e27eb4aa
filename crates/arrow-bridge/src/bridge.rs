//! Loads the C++ side, and creates pyarrow objects with it.

use crate::fault::Fault;
use crate::ffi::{
    ABI_VERSION, BridgeApi, DataKind, Entry, Failure, Kind, MessageFacts, Object, PyarrowApi,
    RustStream, Span,
};
use crate::payload::Payload;
use crate::serve;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{HostPool, Stream};
use arrow_cuda_driver::linker_message;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};
use arrow_cuda_ipc::DeviceMessage;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;

/// The loaded C++ library, for one major version of Arrow.
///
/// Objects are passed as raw `PyObject*`: this crate does not depend on Python.  All functions
/// require the GIL and live objects.
pub struct Bridge {
    api: &'static BridgeApi,
}

// SAFETY: the table is constant.
unsafe impl Send for Bridge {}
// SAFETY: as above.
unsafe impl Sync for Bridge {}

impl Bridge {
    /// Loads the library and exchanges the tables of both sides.  It stays loaded: pyarrow objects
    /// have destructors in its code.
    ///
    /// # Errors
    ///
    /// [`Kind::Io`] when it cannot be loaded, or was built for another version of this crate.
    ///
    /// # Safety
    ///
    /// `pyarrow` must hold the pointers of the pyarrow that is imported, and the library must be
    /// the one built for its major version.
    pub unsafe fn load(library: &Path, pyarrow: PyarrowApi) -> Result<Self, Fault> {
        let failed = |error: libloading::Error| {
            let (library, reason) = (library.display(), linker_message(&error));
            let text = format!(
                "the Arrow bridge '{library}' could not be loaded ({reason}); reinstall \
                 pyarrow-cuda-compat, and pyarrow from PyPI, whose libarrow the bridge needs"
            );
            Fault::new(Kind::Io, text)
        };
        // SAFETY: the caller names our own library; its initialisers only make constants.
        let library = unsafe { libloading::Library::new(library) }.map_err(failed)?;
        // SAFETY: entries/bridge.cc checks that the entry has this type.
        let entry = *unsafe { library.get::<Entry>(b"arrow_cuda_bridge\0") }.map_err(failed)?;
        std::mem::forget(library);
        let pyarrow = Box::leak(Box::new(pyarrow));
        let mut failure = Failure::none();
        // SAFETY: both tables live forever, and the failure is writable.
        let api = unsafe { entry(&raw const serve::API, pyarrow, &raw mut failure).as_ref() };
        match api {
            Some(api) if api.abi_version == ABI_VERSION => Ok(Self { api }),
            Some(api) => Err(Fault::new(
                Kind::Io,
                format!("the Arrow bridge has version {}, not {ABI_VERSION}", api.abi_version),
            )),
            None => Err(failure.into_fault()),
        }
    }

    /// The major version of the Arrow that the library was built for.
    pub fn arrow_major(&self) -> i32 {
        self.api.arrow_major
    }

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

    /// The same with a slice of the buffer behind `parent`.
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

    /// The same with the device memory behind any `pyarrow.Buffer`.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] when the buffer has no device memory.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_from_buffer(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.init_from_buffer)(fresh, buffer, failure)) }
    }

    /// The same with pinned host memory.
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

    /// Initialises a fresh object of a `pyarrow.Buffer` subtype with a slice of a buffer over
    /// pinned memory.
    ///
    /// # Errors
    ///
    /// [`Kind::Index`] when the slice does not lie within the buffer, [`Kind::Type`] when the
    /// memory is not pinned.
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

    /// A new `pyarrow.Buffer` over uninitialised host memory of the default pool.
    ///
    /// # Errors
    ///
    /// [`Kind::Memory`] when the host has no room.
    ///
    /// # Safety
    ///
    /// The GIL must be held.
    pub unsafe fn allocate_host(&self, size: i64) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made(|failure| (self.api.allocate_host)(size, failure)) }
    }

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

    /// The same for a `pyarrow.Schema`.
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

    /// The IPC message of a `pyarrow.RecordBatch` whose data lies on the host.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object, and for an uninitialised one.
    ///
    /// # Safety
    ///
    /// The object must be live.  The GIL must be held, and again when the result is dropped.
    pub unsafe fn payload(&self, batch: Object) -> Result<Payload, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { Payload::open(self.api, batch) }
    }

    /// A new reference to the `pyarrow.RecordBatch` of a message in device memory, which `buffer`
    /// holds.  Each of its buffers is checked to be as long as its array demands.  The data stays
    /// on the device, unless it is compressed: then the batch lies on the host.  `memo` is a
    /// `pyarrow.DictionaryMemo` with the values of dictionaries.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another `buffer` or `schema`; libarrow's errors for the metadata;
    /// [`Kind::Invalid`], which names the column, for a buffer that is too short.
    ///
    /// # Safety
    ///
    /// The objects must be live, and `memo` must be of its class; the GIL must be held.
    pub unsafe fn read_batch(
        &self,
        buffer: Object,
        schema: Object,
        memo: Option<Object>,
        message: DeviceMessage,
    ) -> Result<Object, Fault> {
        let memo = memo.unwrap_or(ptr::null_mut());
        let (metadata, facts) = (&message.metadata, MessageFacts::of(&message.facts));
        let (data, size) = (metadata.as_ptr(), metadata.len());
        let body = Box::into_raw(Box::new(message.body));
        let read = |failure| {
            // SAFETY: guaranteed by the caller; metadata and facts are read during the call only, and
            // the body is handed over.
            unsafe {
                let facts = &raw const facts;
                (self.api.read_batch)(buffer, schema, memo, data, size, facts, body, failure)
            }
        };
        made(read)
    }

    /// Gives a `pyarrow.NativeFile` of [`init_reader`](Self::init_reader) the message at
    /// `position`, which was read and checked already, so that pyarrow does not read it again.  It
    /// is valid until [`forget_message`](Self::forget_message).
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn expect_message(
        &self,
        reader: Object,
        position: u64,
        message: &DeviceMessage,
    ) -> Result<(), Fault> {
        let (metadata, facts) = (&message.metadata, MessageFacts::of(&message.facts));
        let (data, size) = (metadata.as_ptr(), metadata.len());
        let position = (position + message.frame.metadata_offset).cast_signed();
        let told = |failure| {
            // SAFETY: guaranteed by the caller; metadata and facts are read during the call only.
            unsafe {
                let facts = &raw const facts;
                (self.api.expect_metadata)(reader, position, data, size, facts, failure)
            }
        };
        filled(told)
    }

    /// Discards the message of [`expect_message`](Self::expect_message): the file reads it itself
    /// again.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn forget_message(&self, reader: Object) -> Result<(), Fault> {
        let (data, facts) = (ptr::null(), ptr::null());
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.expect_metadata)(reader, 0, data, 0, facts, failure)) }
    }

    /// Prepares an array, or a record batch if it `is_batch`, for pyarrow's export.  It counts unknown
    /// nulls, since libarrow would read the bitmap on the host, and replaces empty host buffers with
    /// empty ones of the device.  Returns a new reference to the replacement, or `None` if the object
    /// needs no change.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object and for an uninitialised one, [`Kind::Invalid`] for a
    /// bitmap that is too short, and driver errors.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn prepare(&self, object: Object, is_batch: bool) -> Result<Option<Object>, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made_or_none(|failure| (self.api.prepare)(object, is_batch, failure)) }
    }

    /// Counts the unknown nulls of an array or record batch, which libarrow would count on the host.
    /// Other objects have none.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] for a bitmap that is too short, and driver errors.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn count_nulls(&self, object: Object) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.count_nulls)(object, failure)) }
    }

    /// A new reference to a copy of an object with data in the memory of `destination`: all of its
    /// buffers are allocated and copied together.  `None` for an array or batch that libarrow itself is
    /// to copy: no data lies on a GPU, or is to.  A null `destination` only has the object checked.
    ///
    /// With a `stream`, the copy is made in its order.  Copies of device memory and of pinned memory to
    /// a device are queued, and retain the data; for others the calling thread waits for the stream.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object and for uninitialised ones, [`Kind::Invalid`] for buffers
    /// that contradict themselves, [`Kind::Memory`] when the host has no room, and driver errors.
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

    /// A new reference to a copy of a `pyarrow.Buffer` in the memory of `destination`, or if it
    /// `is_view`, to a buffer over the same memory as the destination sees it.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for uninitialised objects, [`Kind::NotImplemented`] if the destination does not see
    /// the memory, and driver errors.
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

    /// A new reference to a `pyarrow.RecordBatch` that reports the device that its data lies on; `None`
    /// if this one does, has no data there, or is another object.  Counts the nulls of device memory,
    /// which libarrow would count on the host.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] for a bitmap that is too short, and driver errors.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn placed(&self, batch: Object) -> Result<Option<Object>, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made_or_none(|failure| (self.api.placed)(batch, failure)) }
    }

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
    /// `object` and the structures must be those of one export; the GIL must be held.
    pub unsafe fn finish_export(
        &self,
        object: Object,
        array: *mut c_void,
        schema: *mut c_void,
    ) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.finish_export)(object, array, schema, failure)) }
    }

    /// Waits for an array's event if libarrow reads the data during the import, and counts unknown
    /// nulls of an array that becomes a record batch.  `array` is an `ArrowDeviceArray*`; its type
    /// is that of `schema`, an `ArrowSchema*`, or if that is null, of `described`, a
    /// `pyarrow.DataType` or `pyarrow.Schema`.
    ///
    /// Returns a new reference to the type or schema to import with, if `schema` was consumed.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] for an invalid event or schema, and driver errors; both structures are
    /// released then.
    ///
    /// # Safety
    ///
    /// The structures must be valid for import, of which only the array's own fields are trusted,
    /// not its children; the GIL must be held.
    pub unsafe fn prepare_import(
        &self,
        array: *mut c_void,
        schema: *mut c_void,
        described: Object,
        is_batch: bool,
    ) -> Result<Option<Object>, Fault> {
        let prepared = |failure| {
            // SAFETY: guaranteed by the caller.
            unsafe { (self.api.prepare_import)(array, schema, described, is_batch, failure) }
        };
        made_or_none(prepared)
    }

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
    /// `object` must be the import of the structure, of which only the device is read; the GIL must
    /// be held.
    pub unsafe fn finish_import(
        &self,
        object: Object,
        array: *const c_void,
    ) -> Result<Option<Object>, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made_or_none(|failure| (self.api.finish_import)(object, array, failure)) }
    }

    /// Exports a `pyarrow.Table`, a `pyarrow.ChunkedArray`, or if it `is_reader` a
    /// `pyarrow.RecordBatchReader`, as a stream of the C Device interface.  A reader is read up to the
    /// first batch with memory, on whose device the stream is.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object, and for an uninitialised one; [`Kind::Invalid`] for data on
    /// several devices; those of the reader.
    ///
    /// # Safety
    ///
    /// The object must be live, a reader of its class, and `stream` a released
    /// `ArrowDeviceArrayStream`; the GIL must be held.
    pub unsafe fn export_stream(
        &self,
        object: Object,
        is_reader: bool,
        stream: *mut c_void,
    ) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.export_stream)(object, is_reader, stream, failure)) }
    }

    /// Initialises a fresh `pyarrow.RecordBatchReader` with the batches of a stream of the C Device
    /// interface, which is taken over, also on failure.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] for a released stream; what its producer says.
    ///
    /// # Safety
    ///
    /// `fresh` must be a new object of the class, and `stream` an `ArrowDeviceArrayStream`; the GIL must
    /// be held.
    pub unsafe fn import_stream(&self, fresh: Object, stream: *mut c_void) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.import_stream)(fresh, stream, failure)) }
    }

    /// A new reference to a `pyarrow.ChunkedArray` of all arrays of such a stream.
    ///
    /// # Errors
    ///
    /// As [`import_stream`](Self::import_stream).
    ///
    /// # Safety
    ///
    /// As [`import_stream`](Self::import_stream).
    pub unsafe fn import_chunks(&self, stream: *mut c_void) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made(|failure| (self.api.import_chunks)(stream, failure)) }
    }

    /// A new reference to a `pyarrow.Array` without its data: an empty host buffer replaces each
    /// buffer that is not plain host memory, which becomes its parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object, and for an uninitialised array.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn skeleton_of(&self, array: Object) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { made(|failure| (self.api.skeleton_of)(array, failure)) }
    }

    /// A new reference to a `pyarrow.RecordBatch` of arrays, or a `pyarrow.Table` of chunked
    /// arrays.  Only the columns' types and lengths are checked.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for other columns, or none; [`Kind::Invalid`] for columns that do not fit.
    ///
    /// # Safety
    ///
    /// The objects must be live; the GIL must be held.
    pub unsafe fn assemble(&self, schema: Object, columns: &[Object]) -> Result<Object, Fault> {
        let (first, count) = (columns.as_ptr(), columns.len());
        // SAFETY: guaranteed by the caller; the columns are read during the call only.
        unsafe { made(|failure| (self.api.assemble)(schema, first, count, failure)) }
    }
}

/// Calls C++ and converts its failure.
fn filled(call: impl FnOnce(*mut Failure) -> bool) -> Result<(), Fault> {
    let mut failure = Failure::none();
    if call(&raw mut failure) { Ok(()) } else { Err(failure.into_fault()) }
}

/// Calls C++ for a new object and converts its failure.
fn made(call: impl FnOnce(*mut Failure) -> Object) -> Result<Object, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    if object.is_null() { Err(failure.into_fault()) } else { Ok(object) }
}

/// The same, where null without a failure means that there is no object.
fn made_or_none(call: impl FnOnce(*mut Failure) -> Object) -> Result<Option<Object>, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    match failure.kind {
        Kind::None => Ok((!object.is_null()).then_some(object)),
        _ => Err(failure.into_fault()),
    }
}
