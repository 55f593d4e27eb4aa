//! The types at the border between Rust and libarrow, which two tables of plain C functions cross.
//!
//! `RustApi` has Rust's functions for the C++ classes, which `exported!` declares: device memory and the files over
//! it.  `BridgeApi` has C++'s functions for Rust, which `imported!` declares: pyarrow objects over that memory.
//! Nothing else crosses the border.  `cpp/border/ffi.h` is generated from this file and from the declarations, by
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
use crate::object_ref::{Object, ObjectRef};
use std::ffi::c_void;

pub(crate) use crate::body_reader::BodyReader as RustBodyReader;
pub(crate) use crate::fault::{Failure, Fault as RustFault, Outcome};
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
pub const ABI_VERSION: u32 = 27;

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
pub(crate) struct IndexedMessage {
    /// Null after the last message.
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

/// The memory on a device of an array without parts: of numbers, times or strings.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlatArray {
    /// The number of its first row in the memory.
    pub offset: i64,
    /// How many values are null.
    pub nulls: i64,
    /// How many buffers it has; 0 for other arrays.
    pub count: usize,
    /// The address of each buffer.
    pub addresses: [u64; 3],
    /// The size of each buffer, -1 for one that is not there.
    pub sizes: [i64; 3],
}

/// A column of a new table.
#[repr(C)]
pub(crate) struct NewColumn<'a> {
    /// The column itself, which then has nothing else.
    pub(crate) ready: Option<ObjectRef<'a>>,
    pub(crate) length: i64,
    pub(crate) nulls: i64,
    /// Owned; null for one that is not there.
    pub(crate) buffers: [*mut RustBuffer; 3],
    pub(crate) count: usize,
}

/// A range of host memory to read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostRange {
    /// May be null if there are no bytes.
    pub(crate) data: *const u8,
    pub(crate) size: usize,
}

impl HostRange {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), size: bytes.len() }
    }
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

/// Functions that read the numbers of arrays, such as offsets.
#[repr(C)]
pub(crate) struct NumberReader {
    /// Passed to both.
    pub(crate) state: *mut c_void,
    /// Stores the numbers that are wanted, sign extended.  False if they are too many to read.
    pub(crate) read: unsafe extern "C" fn(
        state: *mut c_void,
        wanted: *const Wanted,
        count: usize,
        out: *mut u64,
    ) -> Outcome<bool>,
    /// Has bytes take the place of the part of a buffer that is reached.  They are valid during the call.
    pub(crate) replace:
        unsafe extern "C" fn(state: *mut c_void, buffer: usize, bytes: HostRange) -> Failure,
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
    /// The conversion of `arrow::Buffer`.
    pub buffer: Conversion,
    /// The conversion of `arrow::Array`.
    pub array: Conversion,
    /// The conversion of `arrow::RecordBatch`.
    pub batch: Conversion,
    /// The conversion of `arrow::Schema`.
    pub schema: Conversion,
    /// The conversion of `arrow::DataType`.
    pub data_type: Conversion,
    /// The conversion of `arrow::ChunkedArray`.
    pub chunked_array: Conversion,
    /// The conversion of `arrow::Table`.
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
