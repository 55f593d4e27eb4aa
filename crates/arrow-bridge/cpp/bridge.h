// The border between Rust and libarrow: two tables of plain C functions.
//
// `RustApi` is what Rust offers to the C++ classes: device memory and the streams over it.
// `BridgeApi` is what the C++ side offers to Rust: pyarrow objects over that memory.
// Nothing else crosses.  crates/arrow-bridge/src/ffi.rs mirrors this file line by line.
//
// Ownership: a function that returns a pointer to an opaque Rust object hands over one
// reference, to be given back with the matching `*_release`.  A `const` parameter is
// borrowed for the call.  Sizes, offsets and positions are bytes.
//
// Failure: a function that can fail takes `Failure*` last, fills it, and returns false, -1
// or null.  Nothing throws across the border.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// CPython's object, never looked into here.
typedef struct _object PyObject;

namespace arrow_cuda {

// Raised by both sides when either table changes.
constexpr uint32_t kAbiVersion = 4;

enum class Kind : int32_t {
  kNone = 0,
  kInvalid = 1,         // pyarrow.ArrowInvalid
  kIo = 2,              // OSError
  kType = 3,            // pyarrow.ArrowTypeError
  kNotImplemented = 4,  // NotImplementedError
  kMemory = 5,          // MemoryError: host memory ran out
  kIndex = 6,           // IndexError
  kPython = 7,          // a Python exception is already set
  kKey = 8,             // pyarrow.ArrowKeyError
  kCapacity = 9,        // pyarrow.ArrowCapacityError
};

struct Failure {
  Kind kind;
  char text[1020];  // UTF-8, NUL-terminated, cut when too long
};

// Opaque Rust objects.
struct RustBuffer;      // buffer::DeviceBuffer
struct RustHostBuffer;  // host_io::HostBuffer, pinned memory
struct RustReader;      // host_io::BufferReader
struct RustWriter;      // host_io::BufferWriter

struct BufferFacts {
  uint64_t address;  // device address, 0 when empty
  int64_t size;
  int32_t device;
  bool is_mutable;
};

struct HostFacts {
  uint8_t* data;
  int64_t size;
};

// The owner of foreign memory: `drop(owner)` is called once, from any thread.
struct Owner {
  void* owner;
  void (*drop)(void* owner);
};

struct RustApi {
  uint32_t abi_version;

  // Devices.  `device_name` fails for a number that is no device.
  bool (*device_name)(int32_t device, char* out, size_t capacity, Failure*);

  // Buffers.  `buffer_allocate` allocates in the device's primary context.
  RustBuffer* (*buffer_allocate)(int32_t device, int64_t size, Failure*);
  // Memory of somebody else; takes `owner` over, also on failure.
  RustBuffer* (*buffer_view)(int32_t device, uint64_t address, int64_t size, bool is_mutable,
                             Owner owner, Failure*);
  RustBuffer* (*buffer_slice)(const RustBuffer*, int64_t offset, int64_t size, bool is_mutable,
                              Failure*);
  void (*buffer_facts)(const RustBuffer*, BufferFacts* out);
  void (*buffer_release)(RustBuffer*);

  // Copies.  Complete when they return, ordered after the default stream's work.
  bool (*copy_to_host)(const RustBuffer*, int64_t position, void* out, int64_t size, Failure*);
  bool (*copy_from_host)(const RustBuffer*, int64_t position, const void* data, int64_t size,
                         Failure*);
  bool (*copy_from_device)(const RustBuffer* to, int64_t position, const RustBuffer* from,
                           Failure*);

  // Pinned host memory and the device addresses it is mapped at.  Both give 0 / null
  // without failing where there is no such mapping.
  void (*host_buffer_facts)(const RustHostBuffer*, HostFacts* out);
  void (*host_buffer_release)(RustHostBuffer*);
  bool (*host_address)(int32_t device, uint64_t device_address, void** out, Failure*);
  bool (*device_address)(int32_t device, const void* host_address, uint64_t* out, Failure*);

  // Events and streams: raw CUevent and CUstream handles.
  bool (*event_create)(int32_t device, void** out, Failure*);
  bool (*event_record)(int32_t device, void* event, void* stream, Failure*);
  bool (*event_wait)(int32_t device, void* event, Failure*);
  void (*event_destroy)(int32_t device, void* event);
  // The handle that a producer has put at `place`.  Fails when there can be no event.
  bool (*event_at)(void* const* place, void** out, Failure*);
  // What stands for the unfinished work of the given events, of the default stream and of the
  // streams that are ordered with it: null for none, one of the given events, or a new event
  // that the caller destroys.
  bool (*event_pending)(int32_t device, void* const* events, size_t count, void** out, Failure*);
  bool (*stream_create)(int32_t device, uint32_t flags, void** out, Failure*);
  bool (*stream_wait_event)(int32_t device, void* stream, void* event, Failure*);
  bool (*stream_synchronize)(int32_t device, void* stream, Failure*);
  void (*stream_destroy)(int32_t device, void* stream);

  // Reading.
  RustReader* (*reader_open)(const RustBuffer*);
  void (*reader_release)(RustReader*);
  void (*reader_close)(RustReader*);
  bool (*reader_is_closed)(const RustReader*);
  bool (*reader_tell)(const RustReader*, int64_t* out, Failure*);
  bool (*reader_size)(const RustReader*, int64_t* out, Failure*);
  bool (*reader_seek)(RustReader*, int64_t position, Failure*);
  int64_t (*reader_read)(RustReader*, int64_t size, void* out, Failure*);
  int64_t (*reader_read_at)(RustReader*, int64_t position, int64_t size, void* out, Failure*);
  RustBuffer* (*reader_read_buffer)(RustReader*, int64_t size, Failure*);
  RustBuffer* (*reader_read_buffer_at)(RustReader*, int64_t position, int64_t size, Failure*);
  // Whether these bytes may be the metadata of an IPC message whose body is compressed: libarrow
  // decompresses on the host only, so such a body has to be read into host memory.
  bool (*is_compressed_message)(const uint8_t* metadata, int64_t size);

  // Writing.  `writer_release` flushes what is buffered.
  RustWriter* (*writer_open)(const RustBuffer*, Failure*);
  void (*writer_release)(RustWriter*);
  bool (*writer_close)(RustWriter*, Failure*);
  bool (*writer_is_closed)(const RustWriter*);
  bool (*writer_tell)(const RustWriter*, int64_t* out, Failure*);
  bool (*writer_seek)(RustWriter*, int64_t position, Failure*);
  bool (*writer_write)(RustWriter*, const void* data, int64_t size, Failure*);
  bool (*writer_write_device)(RustWriter*, const RustBuffer* data, Failure*);
  bool (*writer_write_at)(RustWriter*, int64_t position, const void* data, int64_t size, Failure*);
  bool (*writer_flush)(RustWriter*, Failure*);
  bool (*writer_set_buffer_size)(RustWriter*, int64_t size, Failure*);
};

// What the bridge needs of pyarrow's Cython module, taken from its capsules by Rust.
struct PyarrowApi {
  void* unwrap_buffer;        // std::shared_ptr<arrow::Buffer> (PyObject*)
  void* wrap_buffer;          // PyObject* (const std::shared_ptr<arrow::Buffer>&)
  void* unwrap_array;         // std::shared_ptr<arrow::Array> (PyObject*)
  void* wrap_array;           // PyObject* (const std::shared_ptr<arrow::Array>&)
  void* unwrap_batch;         // std::shared_ptr<arrow::RecordBatch> (PyObject*)
  void* wrap_batch;           // PyObject* (const std::shared_ptr<arrow::RecordBatch>&)
  void* unwrap_schema;        // std::shared_ptr<arrow::Schema> (PyObject*)
  void* unwrap_chunked_array;  // std::shared_ptr<arrow::ChunkedArray> (PyObject*)
  void* unwrap_table;         // std::shared_ptr<arrow::Table> (PyObject*)
  void* wrap_table;           // PyObject* (const std::shared_ptr<arrow::Table>&)
  void** buffer_vtable;       // init, getitem
  void** native_file_vtable;  // set_random_access_file, set_input_stream, set_output_stream, ...
  // Py_DecRef, PyEval_SaveThread and PyEval_RestoreThread.
  void (*decref)(PyObject*);
  void* (*save_thread)();
  void (*restore_thread)(void*);
};

// What any pyarrow.Buffer says of itself.
struct SpanFacts {
  uint64_t address;
  int64_t size;
  bool is_cpu;
  bool is_mutable;
  int32_t device_type;  // ARROW_DEVICE_*
  int64_t device;       // device number, -1 for the CPU
};

// A stretch of host memory, never empty.
struct HostPart {
  const uint8_t* data;
  size_t size;
};

// Opaque C++ object: a batch on its way to become a message.
class Payload;

// Each function that takes a PyObject* wants the GIL held.
struct BridgeApi {
  uint32_t abi_version;
  int32_t arrow_major;

  // `fresh` is an object of a pyarrow.Buffer (or NativeFile) subtype whose base `tp_new` has
  // run.  The opaque pointers are taken over, also on failure.
  bool (*init_buffer)(PyObject* fresh, RustBuffer*, Failure*);
  // The same with a parent: the slice keeps the C++ buffer behind `parent` alive.
  bool (*init_slice)(PyObject* fresh, PyObject* parent, RustBuffer*, Failure*);
  // From any pyarrow.Buffer whose memory is, or is a part of, device memory.  Fails with
  // `buffer is not backed by a CudaBuffer`.
  bool (*init_from_buffer)(PyObject* fresh, PyObject* buffer, Failure*);
  bool (*init_host_buffer)(PyObject* fresh, RustHostBuffer*, Failure*);
  bool (*init_reader)(PyObject* fresh, PyObject* buffer, Failure*);
  bool (*init_writer)(PyObject* fresh, PyObject* buffer, Failure*);

  // Borrowed: valid while the object lives.  Null when the object is not of that kind or was
  // never initialised.  `buffer_of` takes any Python object, the other two any pyarrow.NativeFile.
  const RustBuffer* (*buffer_of)(PyObject* cuda_buffer);
  RustReader* (*reader_of)(PyObject* buffer_reader);
  RustWriter* (*writer_of)(PyObject* buffer_writer);

  // False when `buffer` is no initialised pyarrow.Buffer.
  bool (*span_of)(PyObject* buffer, SpanFacts* out);

  // From part of a pyarrow.Buffer over pinned memory; the part is of type CUDA_HOST too.
  bool (*init_host_slice)(PyObject* fresh, PyObject* host_buffer, int64_t offset, int64_t size,
                          Failure*);

  // A pyarrow.Buffer (new reference) over host memory of the default pool, uninitialised.  Unlike
  // pyarrow's own function it keeps the GIL: a daemon thread that waits for the GIL while the
  // interpreter ends is unwound, which Rust frames do not survive.
  PyObject* (*allocate_host)(int64_t size, Failure*);

  // Whether a pyarrow.RecordBatch, or a pyarrow.Schema, was ever initialised.
  bool (*has_batch)(PyObject* batch);
  bool (*has_schema)(PyObject* schema);
  // Whether an Array, ChunkedArray, RecordBatch or Table was ever initialised.
  bool (*has_arrays)(PyObject* object);
  // Whether any data of such an object lies in device memory, whatever it says of itself.
  bool (*is_on_device)(PyObject* object);

  // A batch, all of which lies on the host, as an IPC message.  `payload_open` only takes the
  // batch; `payload_parts`, which wants no GIL, lays out the message: the concatenation of the
  // parts, which are valid until the next call.  `payload_release` wants the GIL.
  Payload* (*payload_open)(PyObject* batch, Failure*);
  bool (*payload_parts)(Payload*, const HostPart** parts, size_t* count, Failure*);
  void (*payload_release)(Payload*);
  // The batch (new reference) of a message that lies in `buffer`.  Rust has copied and checked the
  // metadata; `body`, a slice of the buffer, is taken over, also on failure.  `memo` may be null.
  PyObject* (*read_batch)(PyObject* buffer, PyObject* schema, PyObject* memo,
                          const uint8_t* metadata, size_t metadata_size, RustBuffer* body,
                          bool is_compressed, Failure*);

  // What libarrow leaves out around the C Device interface.  `array` is an ArrowDeviceArray*,
  // `schema` an ArrowSchema* or null; both are released when a function fails that takes them.
  //
  // Before pyarrow exports or copies `object`, a RecordBatch if it `is_batch`, else an Array:
  // counts its nulls, which libarrow itself would do on the host, where they are unknown.  A new
  // reference to what is to be used instead, all of it on one device, or null without a failure
  // where nothing is wrong with it.  Fails for an object of another kind and for one that was
  // never initialised, which is all that matters for a copy `to_host`.
  PyObject* (*prepare)(PyObject* object, bool is_batch, bool to_host, Failure*);
  // After pyarrow has exported `object`, an Array or RecordBatch: gives the structure an event
  // for work that is not done yet.
  bool (*finish_export)(PyObject* object, void* array, void* schema, Failure*);
  // Before libarrow imports: waits where the import itself reads the data, and counts the nulls of
  // what is to be a batch.
  bool (*prepare_import)(void* array, void* schema, bool is_batch, Failure*);
  // After libarrow has imported `object`: a new reference to what is to be used instead, or null
  // without a failure where nothing is wrong with it.  `array` is only asked for its device.
  PyObject* (*finish_import)(PyObject* object, const void* array, Failure*);

  // The array (new reference) without its data: an empty buffer in place of each that is not
  // plain host memory, which is that one's parent.
  PyObject* (*skeleton_of)(PyObject* array, Failure*);
  // A RecordBatch of arrays, or a Table of chunked arrays (new reference), of which types and
  // lengths are checked and nothing else: libarrow refuses empty memory, whose address is 0.
  PyObject* (*assemble)(PyObject* schema, PyObject* const* columns, size_t count, Failure*);
};

}  // namespace arrow_cuda

// The library's one export.  Both tables must outlive the process's use of the library.
const arrow_cuda::BridgeApi* arrow_cuda_bridge(const arrow_cuda::RustApi* rust,
                                               const arrow_cuda::PyarrowApi* pyarrow,
                                               arrow_cuda::Failure* failure);

}  // extern "C"
