//! `cpp/bridge.h` in Rust, line by line.  What each entry means is said there.

use std::ffi::{c_char, c_void};

pub(crate) const ABI_VERSION: u32 = 4;

/// How a failure is to be raised in Python.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No failure.
    None = 0,
    /// `pyarrow.ArrowInvalid`.
    Invalid = 1,
    /// `OSError`.
    Io = 2,
    /// `pyarrow.ArrowTypeError`.
    Type = 3,
    /// `NotImplementedError`.
    NotImplemented = 4,
    /// `MemoryError`: host memory ran out.
    Memory = 5,
    /// `IndexError`.
    Index = 6,
    /// A Python exception is already set.
    Python = 7,
    /// `pyarrow.ArrowKeyError`.
    Key = 8,
    /// `pyarrow.ArrowCapacityError`.
    Capacity = 9,
}

#[repr(C)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) text: [u8; 1020],
}

/// A `PyObject*`.
pub type Object = *mut c_void;

pub(crate) use arrow_cuda_buffer::DeviceBuffer as RustBuffer;
pub(crate) use arrow_cuda_host_io::{
    BufferReader as RustReader, BufferWriter as RustWriter, HostBuffer as RustHostBuffer,
};

#[repr(C)]
pub(crate) struct BufferFacts {
    pub(crate) address: u64,
    pub(crate) size: i64,
    pub(crate) device: i32,
    pub(crate) is_mutable: bool,
}

#[repr(C)]
pub(crate) struct HostFacts {
    pub(crate) data: *mut u8,
    pub(crate) size: i64,
}

#[repr(C)]
pub(crate) struct Owner {
    pub(crate) owner: *mut c_void,
    pub(crate) drop: unsafe extern "C" fn(*mut c_void),
}

type F = *mut Failure;

#[repr(C)]
pub(crate) struct RustApi {
    pub(crate) abi_version: u32,

    pub(crate) device_name: unsafe extern "C" fn(i32, *mut c_char, usize, F) -> bool,

    pub(crate) buffer_allocate: unsafe extern "C" fn(i32, i64, F) -> *mut RustBuffer,
    pub(crate) buffer_view: unsafe extern "C" fn(i32, u64, i64, bool, Owner, F) -> *mut RustBuffer,
    pub(crate) buffer_slice:
        unsafe extern "C" fn(*const RustBuffer, i64, i64, bool, F) -> *mut RustBuffer,
    pub(crate) buffer_facts: unsafe extern "C" fn(*const RustBuffer, *mut BufferFacts),
    pub(crate) buffer_release: unsafe extern "C" fn(*mut RustBuffer),

    pub(crate) copy_to_host:
        unsafe extern "C" fn(*const RustBuffer, i64, *mut c_void, i64, F) -> bool,
    pub(crate) copy_from_host:
        unsafe extern "C" fn(*const RustBuffer, i64, *const c_void, i64, F) -> bool,
    pub(crate) copy_from_device:
        unsafe extern "C" fn(*const RustBuffer, i64, *const RustBuffer, F) -> bool,

    pub(crate) host_buffer_facts: unsafe extern "C" fn(*const RustHostBuffer, *mut HostFacts),
    pub(crate) host_buffer_release: unsafe extern "C" fn(*mut RustHostBuffer),
    pub(crate) host_address: unsafe extern "C" fn(i32, u64, *mut *mut c_void, F) -> bool,
    pub(crate) device_address: unsafe extern "C" fn(i32, *const c_void, *mut u64, F) -> bool,

    pub(crate) event_create: unsafe extern "C" fn(i32, *mut *mut c_void, F) -> bool,
    pub(crate) event_record: unsafe extern "C" fn(i32, *mut c_void, *mut c_void, F) -> bool,
    pub(crate) event_wait: unsafe extern "C" fn(i32, *mut c_void, F) -> bool,
    pub(crate) event_destroy: unsafe extern "C" fn(i32, *mut c_void),
    pub(crate) event_at: unsafe extern "C" fn(*const *mut c_void, *mut *mut c_void, F) -> bool,
    pub(crate) event_pending:
        unsafe extern "C" fn(i32, *const *mut c_void, usize, *mut *mut c_void, F) -> bool,
    pub(crate) stream_create: unsafe extern "C" fn(i32, u32, *mut *mut c_void, F) -> bool,
    pub(crate) stream_wait_event: unsafe extern "C" fn(i32, *mut c_void, *mut c_void, F) -> bool,
    pub(crate) stream_synchronize: unsafe extern "C" fn(i32, *mut c_void, F) -> bool,
    pub(crate) stream_destroy: unsafe extern "C" fn(i32, *mut c_void),

    pub(crate) reader_open: unsafe extern "C" fn(*const RustBuffer) -> *mut RustReader,
    pub(crate) reader_release: unsafe extern "C" fn(*mut RustReader),
    pub(crate) reader_close: unsafe extern "C" fn(*mut RustReader),
    pub(crate) reader_is_closed: unsafe extern "C" fn(*const RustReader) -> bool,
    pub(crate) reader_tell: unsafe extern "C" fn(*const RustReader, *mut i64, F) -> bool,
    pub(crate) reader_size: unsafe extern "C" fn(*const RustReader, *mut i64, F) -> bool,
    pub(crate) reader_seek: unsafe extern "C" fn(*mut RustReader, i64, F) -> bool,
    pub(crate) reader_read: unsafe extern "C" fn(*mut RustReader, i64, *mut c_void, F) -> i64,
    pub(crate) reader_read_at:
        unsafe extern "C" fn(*mut RustReader, i64, i64, *mut c_void, F) -> i64,
    pub(crate) reader_read_buffer: unsafe extern "C" fn(*mut RustReader, i64, F) -> *mut RustBuffer,
    pub(crate) reader_read_buffer_at:
        unsafe extern "C" fn(*mut RustReader, i64, i64, F) -> *mut RustBuffer,
    pub(crate) is_compressed_message: unsafe extern "C" fn(*const u8, i64) -> bool,

    pub(crate) writer_open: unsafe extern "C" fn(*const RustBuffer, F) -> *mut RustWriter,
    pub(crate) writer_release: unsafe extern "C" fn(*mut RustWriter),
    pub(crate) writer_close: unsafe extern "C" fn(*mut RustWriter, F) -> bool,
    pub(crate) writer_is_closed: unsafe extern "C" fn(*const RustWriter) -> bool,
    pub(crate) writer_tell: unsafe extern "C" fn(*const RustWriter, *mut i64, F) -> bool,
    pub(crate) writer_seek: unsafe extern "C" fn(*mut RustWriter, i64, F) -> bool,
    pub(crate) writer_write: unsafe extern "C" fn(*mut RustWriter, *const c_void, i64, F) -> bool,
    pub(crate) writer_write_device:
        unsafe extern "C" fn(*mut RustWriter, *const RustBuffer, F) -> bool,
    pub(crate) writer_write_at:
        unsafe extern "C" fn(*mut RustWriter, i64, *const c_void, i64, F) -> bool,
    pub(crate) writer_flush: unsafe extern "C" fn(*mut RustWriter, F) -> bool,
    pub(crate) writer_set_buffer_size: unsafe extern "C" fn(*mut RustWriter, i64, F) -> bool,
}

/// What the bridge needs of pyarrow's Cython module: the pointers in its capsules.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PyarrowApi {
    /// `pyarrow_unwrap_buffer`.
    pub unwrap_buffer: *mut c_void,
    /// `pyarrow_wrap_buffer`.
    pub wrap_buffer: *mut c_void,
    /// `pyarrow_unwrap_array`.
    pub unwrap_array: *mut c_void,
    /// `pyarrow_wrap_array`.
    pub wrap_array: *mut c_void,
    /// `pyarrow_unwrap_batch`.
    pub unwrap_batch: *mut c_void,
    /// `pyarrow_wrap_batch`.
    pub wrap_batch: *mut c_void,
    /// `pyarrow_unwrap_schema`.
    pub unwrap_schema: *mut c_void,
    /// `pyarrow_unwrap_chunked_array`.
    pub unwrap_chunked_array: *mut c_void,
    /// `pyarrow_unwrap_table`.
    pub unwrap_table: *mut c_void,
    /// `pyarrow_wrap_table`.
    pub wrap_table: *mut c_void,
    /// `pyarrow.lib.Buffer.__pyx_vtable__`.
    pub buffer_vtable: *mut *mut c_void,
    /// `pyarrow.lib.NativeFile.__pyx_vtable__`.
    pub native_file_vtable: *mut *mut c_void,
    /// `Py_DecRef`.
    pub decref: unsafe extern "C" fn(Object),
    /// `PyEval_SaveThread`.
    pub save_thread: unsafe extern "C" fn() -> *mut c_void,
    /// `PyEval_RestoreThread`.
    pub restore_thread: unsafe extern "C" fn(*mut c_void),
}

/// What any `pyarrow.Buffer` says of itself.
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

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostPart {
    pub(crate) data: *const u8,
    pub(crate) size: usize,
}

/// C++'s own object, never looked into here.
#[repr(C)]
pub(crate) struct CppPayload {
    opaque: [u8; 0],
}

#[repr(C)]
pub(crate) struct BridgeApi {
    pub(crate) abi_version: u32,
    pub(crate) arrow_major: i32,

    pub(crate) init_buffer: unsafe extern "C" fn(Object, *mut RustBuffer, F) -> bool,
    pub(crate) init_slice: unsafe extern "C" fn(Object, Object, *mut RustBuffer, F) -> bool,
    pub(crate) init_from_buffer: unsafe extern "C" fn(Object, Object, F) -> bool,
    pub(crate) init_host_buffer: unsafe extern "C" fn(Object, *mut RustHostBuffer, F) -> bool,
    pub(crate) init_reader: unsafe extern "C" fn(Object, Object, F) -> bool,
    pub(crate) init_writer: unsafe extern "C" fn(Object, Object, F) -> bool,

    pub(crate) buffer_of: unsafe extern "C" fn(Object) -> *const RustBuffer,
    pub(crate) reader_of: unsafe extern "C" fn(Object) -> *mut RustReader,
    pub(crate) writer_of: unsafe extern "C" fn(Object) -> *mut RustWriter,

    pub(crate) span_of: unsafe extern "C" fn(Object, *mut Span) -> bool,
    pub(crate) init_host_slice: unsafe extern "C" fn(Object, Object, i64, i64, F) -> bool,
    pub(crate) allocate_host: unsafe extern "C" fn(i64, F) -> Object,
    pub(crate) has_batch: unsafe extern "C" fn(Object) -> bool,
    pub(crate) has_schema: unsafe extern "C" fn(Object) -> bool,
    pub(crate) has_arrays: unsafe extern "C" fn(Object) -> bool,
    pub(crate) is_on_device: unsafe extern "C" fn(Object) -> bool,

    pub(crate) payload_open: unsafe extern "C" fn(Object, F) -> *mut CppPayload,
    pub(crate) payload_parts:
        unsafe extern "C" fn(*mut CppPayload, *mut *const HostPart, *mut usize, F) -> bool,
    pub(crate) payload_release: unsafe extern "C" fn(*mut CppPayload),
    pub(crate) read_batch: unsafe extern "C" fn(
        Object,
        Object,
        Object,
        *const u8,
        usize,
        *mut RustBuffer,
        bool,
        F,
    ) -> Object,

    pub(crate) prepare: unsafe extern "C" fn(Object, bool, bool, F) -> Object,
    pub(crate) finish_export: unsafe extern "C" fn(Object, *mut c_void, *mut c_void, F) -> bool,
    pub(crate) prepare_import: unsafe extern "C" fn(*mut c_void, *mut c_void, bool, F) -> bool,
    pub(crate) finish_import: unsafe extern "C" fn(Object, *const c_void, F) -> Object,

    pub(crate) skeleton_of: unsafe extern "C" fn(Object, F) -> Object,
    pub(crate) assemble: unsafe extern "C" fn(Object, *const Object, usize, F) -> Object,
}

pub(crate) type Entry =
    unsafe extern "C" fn(*const RustApi, *const PyarrowApi, F) -> *const BridgeApi;

#[cfg(test)]
mod tests {
    use super::*;

    /// A lost or doubled row shifts every later one: the tables' sizes give that away.
    #[test]
    fn the_tables_have_the_rows_of_the_header() {
        let header = include_str!("../cpp/bridge.h");
        let table = |name: &str| {
            let start = header.find(&format!("struct {name} {{")).expect("in the header");
            let body = &header[start..start + header[start..].find("};").expect("closed")];
            body.matches("(*").count()
        };
        let pointer = size_of::<usize>();
        assert_eq!(size_of::<RustApi>(), pointer + table("RustApi") * pointer);
        assert_eq!(size_of::<BridgeApi>(), pointer + table("BridgeApi") * pointer);
        // Twelve data pointers, then functions.
        assert_eq!(size_of::<PyarrowApi>(), (12 + table("PyarrowApi")) * pointer);
        assert!(header.contains(&format!("kAbiVersion = {ABI_VERSION};")));
    }
}
