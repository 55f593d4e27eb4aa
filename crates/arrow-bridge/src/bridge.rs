//! Loading the C++ side, and asking it for pyarrow objects.

use crate::fault::Fault;
use crate::ffi::{
    ABI_VERSION, BridgeApi, Entry, Failure, Kind, MessageFacts, Object, PyarrowApi, Span,
};
use crate::payload::Payload;
use crate::serve;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_driver::linker_message;
use arrow_cuda_host_io::{BufferReader, BufferWriter, HostBuffer};
use arrow_cuda_ipc::DeviceMessage;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;

/// The loaded C++ library, for one major version of Arrow.
///
/// Objects are passed as raw `PyObject*`: this crate knows nothing of Python.  All functions
/// must be called with the GIL held, and with live objects.
pub struct Bridge {
    api: &'static BridgeApi,
}

// SAFETY: the table is constant.
unsafe impl Send for Bridge {}
// SAFETY: as above.
unsafe impl Sync for Bridge {}

impl Bridge {
    /// Loads the library and introduces both sides to each other.  It stays loaded: pyarrow
    /// objects have its code as their destructors.
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

    /// Makes a fresh object of a `pyarrow.Buffer` subtype show a device buffer.
    ///
    /// # Errors
    ///
    /// When libarrow cannot make its own object.
    ///
    /// # Safety
    ///
    /// `fresh` must be what the base type's `tp_new` has made; the GIL must be held.
    pub unsafe fn init_buffer(&self, fresh: Object, buffer: DeviceBuffer) -> Result<(), Fault> {
        let buffer = Box::into_raw(Box::new(buffer));
        // SAFETY: the caller's promise; the buffer is handed over.
        unsafe { filled(|failure| (self.api.init_buffer)(fresh, buffer, failure)) }
    }

    /// The same for a part of the buffer behind `parent`.
    ///
    /// # Errors
    ///
    /// When libarrow cannot make its own object.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer); `parent` must be a device buffer's object.
    pub unsafe fn init_slice(
        &self,
        fresh: Object,
        parent: Object,
        part: DeviceBuffer,
    ) -> Result<(), Fault> {
        let part = Box::into_raw(Box::new(part));
        // SAFETY: the caller's promise; the part is handed over.
        unsafe { filled(|failure| (self.api.init_slice)(fresh, parent, part, failure)) }
    }

    /// The same for the device memory behind any `pyarrow.Buffer`.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] when there is none behind it.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_from_buffer(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.init_from_buffer)(fresh, buffer, failure)) }
    }

    /// The same for pinned host memory.
    ///
    /// # Errors
    ///
    /// When libarrow cannot make its own object.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_host_buffer(&self, fresh: Object, buffer: HostBuffer) -> Result<(), Fault> {
        let buffer = Box::into_raw(Box::new(buffer));
        // SAFETY: the caller's promise; the buffer is handed over.
        unsafe { filled(|failure| (self.api.init_host_buffer)(fresh, buffer, failure)) }
    }

    /// Makes a fresh object of a `pyarrow.NativeFile` subtype read a device buffer.
    ///
    /// # Errors
    ///
    /// When `buffer` is no device buffer.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_reader(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.init_reader)(fresh, buffer, failure)) }
    }

    /// Makes a fresh object of a `pyarrow.NativeFile` subtype write a device buffer.
    ///
    /// # Errors
    ///
    /// When `buffer` is no device buffer, or not mutable.
    ///
    /// # Safety
    ///
    /// As [`init_buffer`](Self::init_buffer).
    pub unsafe fn init_writer(&self, fresh: Object, buffer: Object) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.init_writer)(fresh, buffer, failure)) }
    }

    /// The device buffer behind a `pyarrow.Buffer` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn buffer_of<'a>(&self, object: Object) -> Option<&'a DeviceBuffer> {
        // SAFETY: the caller's promise.
        unsafe { (self.api.buffer_of)(object).as_ref() }
    }

    /// The reader behind a `pyarrow.NativeFile` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn reader_of<'a>(&self, object: Object) -> Option<&'a BufferReader> {
        // SAFETY: the caller's promise.
        unsafe { (self.api.reader_of)(object).as_ref() }
    }

    /// The writer behind a `pyarrow.NativeFile` that this crate has initialised.
    ///
    /// # Safety
    ///
    /// The object must outlive the reference; the GIL must be held.
    pub unsafe fn writer_of<'a>(&self, object: Object) -> Option<&'a BufferWriter> {
        // SAFETY: the caller's promise.
        unsafe { (self.api.writer_of)(object).as_ref() }
    }

    /// What any `pyarrow.Buffer` says of itself; none for other objects, and for those whose
    /// constructor never ran.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn span_of(&self, object: Object) -> Option<Span> {
        let mut span = Span::default();
        // SAFETY: the caller's promise, and a writable place.
        unsafe { (self.api.span_of)(object, &raw mut span) }.then_some(span)
    }

    /// Makes a fresh object of a `pyarrow.Buffer` subtype show part of a buffer over pinned
    /// memory.
    ///
    /// # Errors
    ///
    /// [`Kind::Index`] when the part does not lie within, [`Kind::Type`] when the memory is not
    /// pinned.
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
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.init_host_slice)(fresh, whole, offset, size, failure)) }
    }

    /// A new `pyarrow.Buffer` over uninitialised host memory of the default pool.
    ///
    /// # Errors
    ///
    /// [`Kind::Memory`] when there is not that much.
    ///
    /// # Safety
    ///
    /// The GIL must be held.
    pub unsafe fn allocate_host(&self, size: i64) -> Result<Object, Fault> {
        // SAFETY: the caller's promise.
        unsafe { made(|failure| (self.api.allocate_host)(size, failure)) }
    }

    /// Whether a `pyarrow.RecordBatch` was ever initialised; `__new__` alone leaves it empty, and
    /// pyarrow crashes on it.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_batch(&self, object: Object) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.api.has_batch)(object) }
    }

    /// The same for a `pyarrow.Schema`.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_schema(&self, object: Object) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.api.has_schema)(object) }
    }

    /// Whether the object is a `pyarrow.Array`, `ChunkedArray`, `RecordBatch` or `Table`, and was
    /// ever initialised.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn has_arrays(&self, object: Object) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.api.has_arrays)(object) }
    }

    /// Whether any data of such an object lies in device memory.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn is_on_device(&self, object: Object) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.api.is_on_device)(object) }
    }

    /// A `pyarrow.RecordBatch`, whose data lies on the host, as the message that it is going to
    /// be.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object, and for one that was never initialised.
    ///
    /// # Safety
    ///
    /// The object must be live, and the GIL must be held, also when the result is dropped.
    pub unsafe fn payload(&self, batch: Object) -> Result<Payload, Fault> {
        // SAFETY: the caller's promise.
        unsafe { Payload::open(self.api, batch) }
    }

    /// The `pyarrow.RecordBatch`, as a new reference, of a message in device memory, `buffer`'s.
    /// Each of its buffers was found as long as its array demands.  The data stays where it is,
    /// unless it is compressed: then the batch lies on the host.  `memo` is a
    /// `pyarrow.DictionaryMemo` with the values of dictionaries.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another `buffer` or `schema`; what libarrow finds wrong with the
    /// metadata; [`Kind::Invalid`] for a buffer that is too short, which names the column.
    ///
    /// # Safety
    ///
    /// The objects must be live, `memo` must be of its class; the GIL must be held.
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
            // SAFETY: the caller's promise; metadata and facts are read during the call only, and
            // the body is handed over.
            unsafe {
                let facts = &raw const facts;
                (self.api.read_batch)(buffer, schema, memo, data, size, facts, body, failure)
            }
        };
        made(read)
    }

    /// Tells a `pyarrow.NativeFile` of [`init_reader`](Self::init_reader) which message it finds at
    /// `position`, so that pyarrow is given what was read and checked already; until
    /// [`forget_message`](Self::forget_message).
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
            // SAFETY: the caller's promise; metadata and facts are read during the call only.
            unsafe {
                let facts = &raw const facts;
                (self.api.expect_metadata)(reader, position, data, size, facts, failure)
            }
        };
        filled(told)
    }

    /// Has the file read again what it was told by [`expect_message`](Self::expect_message).
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
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.expect_metadata)(reader, 0, data, 0, facts, failure)) }
    }

    /// Readies an array, or a record batch if it `is_batch`, that pyarrow is about to export or to
    /// copy: counts its nulls where nobody knows their number, for libarrow would look for the
    /// bitmap on the host, and gives it empty buffers of its device in place of the host's.  What
    /// is to be used instead of the object, as a new reference; none when nothing is wrong with it.
    /// What is copied `to_host` needs nothing: only the object's kind is checked.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for another object and for one that was never filled, [`Kind::Invalid`] for
    /// a bitmap that is too short, and the driver's.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn prepare(
        &self,
        object: Object,
        is_batch: bool,
        to_host: bool,
    ) -> Result<Option<Object>, Fault> {
        // SAFETY: the caller's promise.
        unsafe { made_or_none(|failure| (self.api.prepare)(object, is_batch, to_host, failure)) }
    }

    /// Gives what pyarrow has exported of an array or record batch an event for the work that is
    /// not done yet: that which the array itself was imported with, and that of the device's
    /// default stream.  `array` is an `ArrowDeviceArray*`, `schema` an `ArrowSchema*` or null.
    ///
    /// # Errors
    ///
    /// The driver's; both structures are released then.
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
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.finish_export)(object, array, schema, failure)) }
    }

    /// Waits for an array's event where libarrow reads the data while it imports the array, and
    /// counts the nulls of one that is to be a record batch, where nobody knows their number.
    /// `array` is an `ArrowDeviceArray*`, `schema` an `ArrowSchema*` or null.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] for an event that cannot be one, and the driver's; both structures are
    /// released then.
    ///
    /// # Safety
    ///
    /// The structures must be such as can be imported; the GIL must be held.
    pub unsafe fn prepare_import(
        &self,
        array: *mut c_void,
        schema: *mut c_void,
        is_batch: bool,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { filled(|failure| (self.api.prepare_import)(array, schema, is_batch, failure)) }
    }

    /// What is to be used, as a new reference, instead of the array or record batch that libarrow
    /// has imported from `array`, an `ArrowDeviceArray*`; none when nothing is wrong with it.
    ///
    /// libarrow puts host buffers in place of those that are empty, and then refuses to export
    /// an array with memory of several devices.
    ///
    /// # Errors
    ///
    /// When libarrow or pyarrow cannot make the object.
    ///
    /// # Safety
    ///
    /// `object` must be what was imported from the structure, which is only asked for its device;
    /// the GIL must be held.
    pub unsafe fn finish_import(
        &self,
        object: Object,
        array: *const c_void,
    ) -> Result<Option<Object>, Fault> {
        // SAFETY: the caller's promise.
        unsafe { made_or_none(|failure| (self.api.finish_import)(object, array, failure)) }
    }

    /// A `pyarrow.Array` without its data, as a new reference: an empty host buffer in
    /// place of each buffer that is not plain host memory, which is the empty one's parent.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`] for what is no array, or was never initialised.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn skeleton_of(&self, array: Object) -> Result<Object, Fault> {
        // SAFETY: the caller's promise.
        unsafe { made(|failure| (self.api.skeleton_of)(array, failure)) }
    }

    /// A `pyarrow.RecordBatch` of arrays, or a `pyarrow.Table` of chunked arrays, as a new
    /// reference.  Only the columns' types and lengths are checked.
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
        // SAFETY: the caller's promise; the columns are read during the call only.
        unsafe { made(|failure| (self.api.assemble)(schema, first, count, failure)) }
    }
}

/// Calls C++ and takes its failure over.
fn filled(call: impl FnOnce(*mut Failure) -> bool) -> Result<(), Fault> {
    let mut failure = Failure::none();
    if call(&raw mut failure) { Ok(()) } else { Err(failure.into_fault()) }
}

/// Calls C++ for a new object and takes its failure over.
fn made(call: impl FnOnce(*mut Failure) -> Object) -> Result<Object, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    if object.is_null() { Err(failure.into_fault()) } else { Ok(object) }
}

/// The same where null without a failure says that there is nothing to be made.
fn made_or_none(call: impl FnOnce(*mut Failure) -> Object) -> Result<Option<Object>, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    match failure.kind {
        Kind::None => Ok((!object.is_null()).then_some(object)),
        _ => Err(failure.into_fault()),
    }
}
