//! The border between Rust and libarrow: two tables of plain C functions.
//!
//! [`RustApi`] has Rust's functions for the C++ classes: device memory and the files over it.
//! [`BridgeApi`] has C++'s functions for Rust: pyarrow objects over that memory.  Nothing else
//! crosses the border.  `cpp/border/ffi.h` is generated from this file and `exports/`, by
//! `examples/header.rs` before C++ is compiled.
//!
//! Ownership: a function that returns a pointer to an opaque object hands over one reference, which
//! the caller passes to the matching `*_release`.  A `*const` parameter is borrowed for the call.
//! C++ passes live objects for references, and initialised places for mutable ones.  Sizes, offsets and positions are
//! in bytes.
//!
//! Failure: a function that can fail returns a [`Failure`], or an [`Outcome`] if it has a value.  Neither
//! side lets an exception or a panic cross the border.

use crate::kind::Kind;
use crate::object_ref::{Destination, Object, ObjectRef};
use std::ffi::c_void;

pub(crate) use crate::exports::RustApi;
pub(crate) use crate::fault::{Failure, Fault as RustFault, Outcome};
pub(crate) use crate::stored::Stored as RustStored;
pub(crate) use arrow_cuda_buffer::DeviceBuffer as RustBuffer;
pub(crate) use arrow_cuda_context::{
    Context as RustContext, HostPool as RustPool, Stream as RustStream,
};
pub(crate) use arrow_cuda_host_io::{
    BufferReader as RustReader, BufferWriter as RustWriter, HostBuffer as RustHostBuffer,
};
pub(crate) use arrow_cuda_ipc::Codec;
pub(crate) use arrow_cuda_layout::{ArrayNode, ByteRange, Joined, Reached, Reads, Wanted};

/// The version of both tables.  Increment it when either of them changes: a library with another
/// version is refused.
pub const ABI_VERSION: u32 = 23;

#[repr(C)]
pub(crate) struct FaultFacts {
    pub(crate) kind: Kind,
    /// UTF-8, valid as long as the fault exists.
    pub(crate) text: HostRange,
}

/// pyarrow's class of an object with data.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// `pyarrow.Array`.
    Array = 0,
    /// `pyarrow.RecordBatch`.
    Batch = 1,
    /// `pyarrow.ChunkedArray`.
    ChunkedArray = 2,
    /// `pyarrow.Table`.
    Table = 3,
}

/// The origin of a reader's record batches.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSource {
    /// A table.
    Table = 0,
    /// An iterable of Python: `RecordBatchReader.from_batches`.
    Iterable = 1,
    /// Files, streams and other libraries, or nothing.
    Other = 2,
}

/// C++'s own object: a batch that becomes a message.
pub(crate) struct CppPayload {
    _opaque: [u8; 0],
}

/// C++'s own object: what decompresses one buffer after the other.
pub(crate) struct CppDecoder {
    _opaque: [u8; 0],
}

/// C++'s own object: a table that Python does not have yet.
pub(crate) struct CppTable {
    _opaque: [u8; 0],
}

/// How far a decoder has come.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Decoded {
    /// The bytes that it has read.
    pub(crate) used: usize,
    /// The bytes that it has written.
    pub(crate) written: usize,
    /// Whether these were the last.
    pub(crate) is_finished: bool,
}

/// A message whose body is not read yet.
#[repr(C)]
pub(crate) struct StoredMessage {
    /// Null behind the last message.
    pub(crate) metadata: HostRange,
    /// Where the body would be: no memory is there.
    pub(crate) address: u64,
    pub(crate) body_size: i64,
}

/// Room for a `RustBuffer` inside an object of C++'s, which saves an allocation for each.  To copy
/// the bytes is to move the buffer: the last copy of them owns it.
#[repr(C)]
pub(crate) struct BufferPlace {
    pub(crate) words: [u64; 4],
}

#[repr(C)]
pub(crate) struct BufferFacts {
    /// The device address, 0 when the buffer is empty.
    pub(crate) address: u64,
    pub(crate) size: i64,
    pub(crate) device: i32,
    pub(crate) is_mutable: bool,
}

/// Tells contexts apart, of which a later one may have the same handle.
#[repr(C)]
pub(crate) struct ContextIdentity {
    pub(crate) handle: usize,
    pub(crate) number: u64,
}

#[repr(C)]
pub(crate) struct HostFacts {
    pub(crate) data: *mut u8,
    pub(crate) size: i64,
}

/// The owner of foreign memory.
#[repr(C)]
pub(crate) struct Owner {
    pub(crate) owner: *mut c_void,
    /// Called with `owner` once, from any thread.
    pub(crate) drop: unsafe extern "C" fn(owner: *mut c_void),
}

/// A function of C++ that is called during the call it is passed to.
#[repr(C)]
pub(crate) struct Callback {
    pub(crate) call: unsafe extern "C" fn(called: *const c_void) -> Failure,
    pub(crate) called: *const c_void,
}

/// The type of an IPC message.
#[repr(i32)]
#[derive(Clone, Copy)]
pub(crate) enum MessageKind {
    /// Rust cannot read the metadata.
    Unreadable = 0,
    Schema = 1,
    Dictionary = 2,
    Batch = 3,
    Other = 4,
}

/// The facts in the metadata of an IPC message.  An unreadable message may be anything, so it
/// counts as `is_swapped` and as `is_delta`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MessageFacts {
    pub(crate) kind: MessageKind,
    pub(crate) body_size: i64,
    /// For a schema: its batches have the other byte order, and libarrow swaps their bytes on the
    /// host.
    pub(crate) is_swapped: bool,
    /// For a dictionary: libarrow appends it to the earlier one, on the host.
    pub(crate) is_delta: bool,
    /// For a batch or dictionary: libarrow slices the body without reading it.
    pub(crate) stays_on_device: bool,
    /// For a batch or dictionary: the body is compressed, or may be.
    pub(crate) is_compressed: bool,
}

/// The contexts to which data in device memory belongs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Contexts {
    /// The number of the GPU that the first of it lies on, -1 for none.
    pub device: i32,
    /// Whether any of it belongs to another context than the primary one of that GPU.
    pub is_elsewhere: bool,
}

impl Contexts {
    /// The number of the GPU that the first of it lies on.
    pub fn device(self) -> Option<u32> {
        u32::try_from(self.device).ok()
    }
}

/// The record batches that a reader is about to copy.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchesTaken {
    /// Their number.
    pub count: usize,
    /// Their rows.
    pub rows: i64,
    /// The contexts to which their data belongs.
    pub contexts: Contexts,
    /// Whether the source has ended, or failed, after these.
    pub are_last: bool,
}

/// The memory that any `pyarrow.Buffer` reports.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The address, of the host or of a device.
    pub address: u64,
    /// The size, in bytes.
    pub size: i64,
    /// Whether the host can read it.
    pub is_cpu: bool,
    /// Whether it may be written to.
    pub is_mutable: bool,
    /// `ARROW_DEVICE_*`.
    pub device_type: i32,
    /// The device's number, -1 for the CPU.
    pub device: i64,
}

/// The elements of an array of numbers, in DLPack's terms.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements {
    /// The code of their kind.
    pub code: u8,
    /// The bits of each.
    pub bits: u8,
    /// The first of them in the buffer.
    pub offset: i64,
    /// How many there are.
    pub length: i64,
}

/// A range of host memory to read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostRange {
    /// May be null if there are no bytes.
    pub(crate) data: *const u8,
    pub(crate) size: usize,
}

/// Ranges of host memory to read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostRanges {
    pub(crate) first: *const HostRange,
    pub(crate) count: usize,
}

/// A range of host memory to write.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostTarget {
    /// May be null if there are no bytes.
    pub(crate) data: *mut u8,
    pub(crate) size: usize,
}

/// A function that stores the offsets that are wanted, sign extended.
#[repr(C)]
pub(crate) struct OffsetReader {
    /// Passed to `read`.
    pub(crate) state: *mut c_void,
    pub(crate) read: unsafe extern "C" fn(
        state: *mut c_void,
        wanted: *const Wanted,
        count: usize,
        out: *mut u64,
    ) -> Failure,
}

/// pyarrow's functions that convert between its objects and those of a class `T` of libarrow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// `std::shared_ptr<T> (PyObject*)`.
    pub unwrap: *mut c_void,
    /// `PyObject* (const std::shared_ptr<T>&)`.
    pub wrap: *mut c_void,
}

/// The functions that the bridge needs from pyarrow's Cython module: the pointers in its capsules,
/// with pyarrow's C++ signatures.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PyarrowApi {
    /// Those of `arrow::Buffer`.
    pub buffer: Conversion,
    /// Those of `arrow::Array`.
    pub array: Conversion,
    /// Those of `arrow::RecordBatch`.
    pub batch: Conversion,
    /// Those of `arrow::Schema`.
    pub schema: Conversion,
    /// Those of `arrow::DataType`.
    pub data_type: Conversion,
    /// Those of `arrow::ChunkedArray`.
    pub chunked_array: Conversion,
    /// Those of `arrow::Table`.
    pub table: Conversion,
    /// `pyarrow.lib.Buffer.__pyx_vtable__`: init, getitem.
    pub buffer_vtable: *mut *mut c_void,
    /// `pyarrow.lib.NativeFile.__pyx_vtable__`: set_random_access_file, set_input_stream,
    /// set_output_stream, and more.
    pub native_file_vtable: *mut *mut c_void,
    /// `pyarrow.lib.MemoryPool.__pyx_vtable__`: init.
    pub memory_pool_vtable: *mut *mut c_void,
    /// `Py_DecRef`.
    pub decref: unsafe extern "C" fn(object: Object),
    /// `PyEval_SaveThread`.
    pub save_thread: unsafe extern "C" fn() -> *mut c_void,
    /// `PyEval_RestoreThread`.
    pub restore_thread: unsafe extern "C" fn(state: *mut c_void),
}

/// C++'s functions for Rust, which the methods of [`Bridge`](crate::Bridge) document.  Each function that
/// takes a `PyObject` requires the GIL, which a [`ObjectRef`] one shows; those that need no other promise are safe.  A
/// `PyObject` that is returned is a new reference.
#[repr(C)]
pub(crate) struct BridgeApi {
    pub(crate) abi_version: u32,
    pub(crate) arrow_major: i32,
    /// Called once, before the other functions.  Both tables live forever.
    pub(crate) start: unsafe extern "C" fn(rust: &RustApi, pyarrow: &PyarrowApi) -> Failure,

    // New objects.
    /// In each `init_*`, `fresh` is an object of a pyarrow subclass whose base `tp_new` has
    /// run.  The function takes ownership of opaque pointers, even on failure.
    /// A slice keeps the C++ buffer behind `parent` alive, which is null for others.
    pub(crate) init_buffer: unsafe extern "C" fn(
        fresh: ObjectRef<'_>,
        parent: Object,
        buffer: Box<RustBuffer>,
    ) -> Failure,
    pub(crate) init_from_buffer:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Failure,
    pub(crate) init_host_buffer:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, buffer: Box<RustHostBuffer>) -> Failure,
    pub(crate) init_host_slice: unsafe extern "C" fn(
        fresh: ObjectRef<'_>,
        whole: ObjectRef<'_>,
        offset: i64,
        size: i64,
    ) -> Failure,
    pub(crate) init_reader:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Failure,
    pub(crate) init_writer:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, buffer: ObjectRef<'_>) -> Failure,
    pub(crate) init_pool:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, pool: &'static RustPool) -> Failure,

    // The contents of an object.
    /// Borrowed: valid while the object lives.
    pub(crate) buffer_of: extern "C" fn(object: ObjectRef<'_>) -> Option<&RustBuffer>,
    /// Borrowed, as above.  Null unless the object is an array with values, all of them numbers and none of
    /// them with a bit for being null, that lie in a buffer of Rust's as it is.
    pub(crate) elements_of:
        for<'a> extern "C" fn(array: ObjectRef<'a>, out: &mut Elements) -> Option<&'a RustBuffer>,
    /// Borrowed, as above.
    pub(crate) reader_of: unsafe extern "C" fn(native_file: ObjectRef<'_>) -> Option<&RustReader>,
    /// Borrowed, as above.
    pub(crate) writer_of: unsafe extern "C" fn(native_file: ObjectRef<'_>) -> Option<&RustWriter>,
    pub(crate) pool_of: unsafe extern "C" fn(object: ObjectRef<'_>) -> Option<&'static RustPool>,
    pub(crate) span_of: extern "C" fn(buffer: ObjectRef<'_>, out: &mut Span) -> bool,
    pub(crate) expose_address: extern "C" fn(buffer: ObjectRef<'_>, out: &mut u64) -> bool,
    /// Unlike pyarrow's own function it keeps the GIL: a daemon thread that waits for the GIL while
    /// the interpreter ends is unwound, which Rust frames do not survive.
    pub(crate) allocate_host: unsafe extern "C" fn(size: i64) -> Outcome<Object>,
    pub(crate) is_initialised: extern "C" fn(object: ObjectRef<'_>) -> bool,
    pub(crate) is_initialised_reader: unsafe extern "C" fn(reader: ObjectRef<'_>) -> bool,
    pub(crate) source_of: unsafe extern "C" fn(reader: ObjectRef<'_>) -> BatchSource,
    pub(crate) is_on_device: extern "C" fn(object: ObjectRef<'_>) -> bool,
    pub(crate) contexts_of: extern "C" fn(object: ObjectRef<'_>) -> Contexts,
    pub(crate) has_devices: extern "C" fn() -> bool,

    // Record batches as IPC messages.
    pub(crate) payload_open: extern "C" fn(batch: ObjectRef<'_>) -> Outcome<*mut CppPayload>,
    /// Does not require the GIL.
    pub(crate) payload_ranges:
        unsafe extern "C" fn(payload: *mut CppPayload) -> Outcome<HostRanges>,
    /// Requires the GIL.
    pub(crate) payload_release: unsafe extern "C" fn(payload: *mut CppPayload),
    /// Takes ownership of `body`, a slice of the buffer, even on failure.  `memo` may be null.
    pub(crate) read_batch: unsafe extern "C" fn(
        buffer: ObjectRef<'_>,
        schema: ObjectRef<'_>,
        memo: Object,
        metadata: *const u8,
        metadata_size: usize,
        facts: &MessageFacts,
        body: Box<RustBuffer>,
    ) -> Outcome<Object>,
    /// Reads at that position return these bytes, until another call passes null for `metadata`.
    pub(crate) expect_metadata: unsafe extern "C" fn(
        reader: ObjectRef<'_>,
        position: i64,
        metadata: *const u8,
        metadata_size: usize,
        facts: Option<&MessageFacts>,
    ) -> Failure,

    // The C Device interface, and copies.  The value is null where an object needs no change.
    pub(crate) prepare: extern "C" fn(object: ObjectRef<'_>, is_batch: bool) -> Outcome<Object>,
    pub(crate) count_nulls: extern "C" fn(object: ObjectRef<'_>) -> Failure,
    /// Without a destination the object is checked only; `stream` may be null.
    pub(crate) copy_to: extern "C" fn(
        object: ObjectRef<'_>,
        kind: DataKind,
        destination: Option<&Destination<'_>>,
        stream: Option<&RustStream>,
    ) -> Outcome<Object>,
    /// A copy, where it lies, of an object that reaches little of its memory on one device; else null.
    pub(crate) copy_slice: extern "C" fn(object: ObjectRef<'_>, kind: DataKind) -> Outcome<Object>,
    /// One array of a chunked array on a device, or a table of such; null for data on the host.
    pub(crate) combine: extern "C" fn(object: ObjectRef<'_>, kind: DataKind) -> Outcome<Object>,
    /// -1 for none.
    pub(crate) destination_device: extern "C" fn(destination: &Destination<'_>) -> i32,
    pub(crate) buffer_to: extern "C" fn(
        buffer: ObjectRef<'_>,
        destination: &Destination<'_>,
        is_view: bool,
    ) -> Outcome<Object>,
    pub(crate) placed: extern "C" fn(batch: ObjectRef<'_>) -> Outcome<Object>,
    pub(crate) make_ready: extern "C" fn(array: ObjectRef<'_>) -> Failure,
    pub(crate) finish_export: unsafe extern "C" fn(
        object: ObjectRef<'_>,
        array: *mut c_void,
        schema: *mut c_void,
    ) -> Failure,
    pub(crate) prepare_import: unsafe extern "C" fn(
        array: *mut c_void,
        schema: *mut c_void,
        described: Object,
        is_batch: bool,
    ) -> Outcome<Object>,
    pub(crate) finish_import:
        unsafe extern "C" fn(object: ObjectRef<'_>, array: *const c_void) -> Outcome<Object>,
    pub(crate) export_stream: unsafe extern "C" fn(
        object: ObjectRef<'_>,
        is_reader: bool,
        stream: *mut c_void,
    ) -> Failure,
    pub(crate) import_stream:
        unsafe extern "C" fn(fresh: ObjectRef<'_>, stream: *mut c_void) -> Failure,
    pub(crate) import_chunks: unsafe extern "C" fn(stream: *mut c_void) -> Outcome<Object>,

    // Readers of copies of record batches, which read ahead.
    /// Initialises a new reader, which takes the batches of a reader over.
    pub(crate) read_ahead: unsafe extern "C" fn(
        reader: ObjectRef<'_>,
        most: i64,
        destination: &Destination<'_>,
        has_stream: bool,
        fresh: ObjectRef<'_>,
    ) -> Failure,
    pub(crate) run_ahead: unsafe extern "C" fn(reader: ObjectRef<'_>) -> Failure,
    /// Batches for `copy_taken`; the same as last time unless those `were_copied`.
    pub(crate) take_batches:
        unsafe extern "C" fn(reader: ObjectRef<'_>, were_copied: bool) -> Outcome<BatchesTaken>,
    /// Stores a new reference to a copy of each batch, whose bytes it returns.  `stream` may be null.
    pub(crate) copy_taken: unsafe extern "C" fn(
        reader: ObjectRef<'_>,
        stream: Option<&RustStream>,
        out: *mut Object,
    ) -> Outcome<i64>,

    // Pickling.
    /// If `names.first` is null, the table has all columns.  Needs no GIL, nor do the functions of decoders.
    pub(crate) table_of_stored: unsafe extern "C" fn(
        stored: &RustStored<'_>,
        device: i32,
        names: HostRanges,
    ) -> Outcome<*mut CppTable>,
    /// Takes the table over, also on failure.
    pub(crate) wrap_table: unsafe extern "C" fn(table: *mut CppTable) -> Outcome<Object>,
    pub(crate) decoder_open: unsafe extern "C" fn(codec: Codec) -> Outcome<*mut CppDecoder>,
    pub(crate) decoder_reset: unsafe extern "C" fn(decoder: *mut CppDecoder) -> Failure,
    pub(crate) decoder_decode: unsafe extern "C" fn(
        decoder: *mut CppDecoder,
        from: HostRange,
        to: HostTarget,
    ) -> Outcome<Decoded>,
    pub(crate) decoder_release: unsafe extern "C" fn(decoder: *mut CppDecoder),
    pub(crate) skeleton_of: extern "C" fn(array: ObjectRef<'_>) -> Outcome<Object>,
    pub(crate) assemble: unsafe extern "C" fn(
        schema: ObjectRef<'_>,
        columns: *const ObjectRef<'_>,
        count: usize,
    ) -> Outcome<Object>,
}

/// The library's one export.  `start` is called before any other function.
pub(crate) type Entry = unsafe extern "C" fn() -> &'static BridgeApi;
