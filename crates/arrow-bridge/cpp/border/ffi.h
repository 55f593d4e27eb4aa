// The border between Rust and libarrow, generated from src/ffi.rs by tests/header.rs: change that
// file, which also says who owns what and how a function fails.

#pragma once

#include <cstddef>
#include <cstdint>

namespace arrow_cuda {

// Opaque Rust objects.
struct RustBuffer;      // arrow_cuda_buffer::DeviceBuffer
struct RustHostBuffer;  // arrow_cuda_host_io::HostBuffer, page-locked memory
struct RustPool;        // arrow_cuda_context::HostPool
struct RustEvent;       // arrow_cuda_context::Event
struct RustStream;      // arrow_cuda_context::Stream
struct RustReader;      // arrow_cuda_host_io::BufferReader
struct RustWriter;      // arrow_cuda_host_io::BufferWriter

// Rust's owning pointer, and one that may be null.
template <typename T>
using Box = T *;
template <typename Pointer>
using Option = Pointer;

}  // namespace arrow_cuda

namespace arrow_cuda {

/// The version of both tables.  Increment it when either of them changes: a library with another
/// version is refused.
constexpr static const uint32_t kAbiVersion = 12;

/// The kind of exception that Python raises for a failure.
enum class Kind : int32_t {
  /// No failure.
  kNone = 0,
  /// `pyarrow.ArrowInvalid`.
  kInvalid = 1,
  /// `OSError`.
  kIo = 2,
  /// `pyarrow.ArrowTypeError`.
  kType = 3,
  /// `NotImplementedError`.
  kNotImplemented = 4,
  /// `MemoryError`: host memory ran out.
  kMemory = 5,
  /// `IndexError`.
  kIndex = 6,
  /// A Python exception is already set.
  kPython = 7,
  /// `pyarrow.ArrowKeyError`.
  kKey = 8,
  /// `pyarrow.ArrowCapacityError`.
  kCapacity = 9,
};

/// The type of an IPC message.
enum class MessageKind : int32_t {
  /// Rust cannot read the metadata.
  kUnreadable = 0,
  kSchema = 1,
  kDictionary = 2,
  kBatch = 3,
  kOther = 4,
};

/// pyarrow's class of an object with data.
enum class DataKind : int32_t {
  /// `pyarrow.Array`.
  kArray = 0,
  /// `pyarrow.RecordBatch`.
  kBatch = 1,
  /// `pyarrow.ChunkedArray`.
  kChunkedArray = 2,
  /// `pyarrow.Table`.
  kTable = 3,
};

/// C++'s own object: a batch that becomes a message.
struct Payload;

/// CPython's object, which is opaque to both sides of the border.
struct PyObject;

struct Failure {
  Kind kind;
  /// UTF-8, NUL-terminated, cut when too long.
  char text[1020];
};

/// The owner of foreign memory.
struct Owner {
  void *owner;
  /// Called with `owner` once, from any thread.
  void (*drop)(void *owner);
};

struct BufferFacts {
  /// The device address, 0 when the buffer is empty.
  uint64_t address;
  int64_t size;
  int32_t device;
  bool is_mutable;
};

/// Room for a `RustBuffer` inside an object of C++'s, which saves an allocation for each.  To copy
/// the bytes is to move the buffer: the last copy of them owns it.
struct BufferPlace {
  uint64_t words[4];
};

/// A range of host memory to read.
struct HostRange {
  /// May be null if there are no bytes.
  const uint8_t *data;
  size_t size;
};

/// A range of host memory to write.
struct HostTarget {
  /// May be null if there are no bytes.
  uint8_t *data;
  size_t size;
};

struct HostFacts {
  uint8_t *data;
  int64_t size;
};

/// The facts in the metadata of an IPC message.  An unreadable message may be anything, so it
/// counts as `is_swapped` and as `is_delta`.
struct MessageFacts {
  MessageKind kind;
  int64_t body_size;
  /// For a schema: its batches have the other byte order, and libarrow swaps their bytes on the
  /// host.
  bool is_swapped;
  /// For a dictionary: libarrow appends it to the earlier one, on the host.
  bool is_delta;
  /// For a batch or dictionary: libarrow slices the body without reading it.
  bool stays_on_device;
  /// For a batch or dictionary: the body is compressed, or may be.
  bool is_compressed;
};

/// Rust's functions for C++.
struct RustApi {
  uint32_t abi_version;
  /// Fails for a number that no device has.
  bool (*device_name)(int32_t device, char *out, size_t capacity, Failure *failure);
  /// Allocates in the device's primary context.
  Option<Box<RustBuffer>> (*buffer_allocate)(int32_t device, int64_t size, Failure *failure);
  /// A buffer over foreign memory; takes ownership of `owner`, even on failure.
  Option<Box<RustBuffer>> (*buffer_view)(int32_t device,
                                         uint64_t address,
                                         int64_t size,
                                         bool is_mutable,
                                         Owner owner,
                                         Failure *failure);
  Option<Box<RustBuffer>> (*buffer_slice)(const RustBuffer *buffer,
                                          int64_t offset,
                                          int64_t size,
                                          bool is_mutable,
                                          Failure *failure);
  void (*buffer_facts)(const RustBuffer *buffer, BufferFacts *out);
  /// The address is about to reach other libraries.
  void (*buffer_expose)(const RustBuffer *buffer);
  void (*buffer_release)(Box<RustBuffer> buffer);
  /// Moves a buffer to a place, instead of releasing it.
  void (*buffer_move)(Box<RustBuffer> buffer, BufferPlace *out);
  /// Releases the buffer at a place, which is only memory afterwards.
  void (*buffer_release_at)(BufferPlace *place);
  /// Copies are complete when they return, and ordered after the default stream's work.
  bool (*copy_to_host)(const RustBuffer *from,
                       int64_t position,
                       void *out,
                       int64_t size,
                       Failure *failure);
  bool (*copy_from_host)(const RustBuffer *to,
                         int64_t position,
                         const void *data,
                         int64_t size,
                         Failure *failure);
  bool (*copy_from_device)(const RustBuffer *to,
                           int64_t position,
                           const RustBuffer *from,
                           Failure *failure);
  /// New buffers in the device's primary context with the bytes of `count` ranges, allocated and
  /// copied together.  Stores `count` buffers at `out`, to be released at their places, or none on
  /// failure.
  bool (*copies_of_host)(int32_t device,
                         const HostRange *ranges,
                         size_t count,
                         BufferPlace *out,
                         Failure *failure);
  /// As `copies_of_host`, with the bytes of other buffers.
  bool (*copies_of_buffers)(int32_t device,
                            const RustBuffer *const *buffers,
                            size_t count,
                            BufferPlace *out,
                            Failure *failure);
  /// As `copies_of_host`, in the order of a stream of the device's primary context, which is waited
  /// for unless all ranges are pinned.  Takes ownership of `owner`, which keeps the ranges readable,
  /// even on failure.
  bool (*queued_copies_of_host)(int32_t device,
                                const RustStream *stream,
                                const HostRange *ranges,
                                size_t count,
                                Owner owner,
                                BufferPlace *out,
                                Failure *failure);
  /// As `copies_of_buffers`, in the order of a stream, which may belong to the context of the copies
  /// or to that of the buffers.  Takes ownership of `owner`, which keeps the buffers' memory valid,
  /// even on failure.
  bool (*queued_copies_of_buffers)(int32_t device,
                                   const RustStream *stream,
                                   const RustBuffer *const *buffers,
                                   size_t count,
                                   Owner owner,
                                   BufferPlace *out,
                                   Failure *failure);
  /// Waits for a stream that belongs to the context of each buffer.
  bool (*stream_await_for)(const RustStream *stream,
                           const RustBuffer *const *buffers,
                           size_t count,
                           Failure *failure);
  /// Copies `count` buffers to the host together, each to a target of its size.
  bool (*copy_all_to_host)(const RustBuffer *const *buffers,
                           const HostTarget *targets,
                           size_t count,
                           Failure *failure);
  void (*host_buffer_facts)(const RustHostBuffer *buffer, HostFacts *out);
  void (*host_buffer_release)(Box<RustHostBuffer> buffer);
  /// Allocates `size` bytes, more than 0, at a multiple of `alignment`, a power of two.  These functions
  /// may be called on any thread, and neither need the GIL nor give it up.
  uint8_t *(*pool_allocate)(const RustPool *pool, int64_t size, int64_t alignment, Failure *failure);
  /// Returns where the bytes are now; `data` is still allocated on failure.  Neither size is 0.
  uint8_t *(*pool_reallocate)(const RustPool *pool,
                              uint8_t *data,
                              int64_t old_size,
                              int64_t new_size,
                              int64_t alignment,
                              Failure *failure);
  void (*pool_free)(const RustPool *pool, uint8_t *data, int64_t size);
  void (*pool_release_unused)(const RustPool *pool);
  /// The host address of pinned memory that is mapped at a device address; null, without a
  /// failure, for an address without a mapping.
  bool (*host_address)(int32_t device, uint64_t device_address, void **out, Failure *failure);
  /// Whether an address is that of device memory, which the host does not reach; not, if nobody knows it.
  bool (*is_device_memory)(int32_t device, uint64_t address, bool *out, Failure *failure);
  /// The device address that pinned memory is mapped at; 0, without a failure, for memory without a mapping.
  bool (*device_address)(int32_t device, const void *host_address, uint64_t *out, Failure *failure);
  /// An event of the device's primary context.
  Option<Box<RustEvent>> (*event_create)(int32_t device, Failure *failure);
  /// The event whose handle a producer has stored at `place`; the producer keeps both valid as
  /// long as this exists.  Fails if this cannot be an event.
  Option<Box<RustEvent>> (*event_wrap)(int32_t device, void *const *place, Failure *failure);
  void (*event_release)(Box<RustEvent> event);
  /// The address of the event's `CUevent`, valid as long as `event` exists.
  void **(*event_place)(const RustEvent *event);
  bool (*event_record)(const RustEvent *event, const RustStream *stream, Failure *failure);
  bool (*event_wait)(const RustEvent *event, Failure *failure);
  /// An event for the work in flight before the given events, on the default stream and on the
  /// streams that are ordered with it.  Stores null if there is no such work.
  bool (*event_pending)(int32_t device,
                        const RustEvent *const *events,
                        size_t count,
                        Option<Box<RustEvent>> *out,
                        Failure *failure);
  /// A stream of the device's primary context, with the driver's `CU_STREAM_*` flags.
  Option<Box<RustStream>> (*stream_create)(int32_t device, uint32_t flags, Failure *failure);
  /// The stream whose handle lies at `place`, which its owner keeps valid as long as this exists;
  /// the default stream for null.
  Option<Box<RustStream>> (*stream_wrap)(int32_t device, void *const *place, Failure *failure);
  void (*stream_release)(Box<RustStream> stream);
  /// The address of the stream's `CUstream`, valid as long as `stream` exists.
  void **(*stream_place)(const RustStream *stream);
  bool (*stream_wait_event)(const RustStream *stream, const RustEvent *event, Failure *failure);
  bool (*stream_synchronize)(const RustStream *stream, Failure *failure);
  Box<RustReader> (*reader_open)(const RustBuffer *buffer);
  void (*reader_release)(Box<RustReader> reader);
  void (*reader_close)(const RustReader *reader);
  bool (*reader_is_closed)(const RustReader *reader);
  bool (*reader_tell)(const RustReader *reader, int64_t *out, Failure *failure);
  bool (*reader_size)(const RustReader *reader, int64_t *out, Failure *failure);
  bool (*reader_seek)(const RustReader *reader, int64_t position, Failure *failure);
  int64_t (*reader_read)(const RustReader *reader, int64_t size, void *out, Failure *failure);
  int64_t (*reader_read_at)(const RustReader *reader,
                            int64_t position,
                            int64_t size,
                            void *out,
                            Failure *failure);
  Option<Box<RustBuffer>> (*reader_read_buffer)(const RustReader *reader,
                                                int64_t size,
                                                Failure *failure);
  Option<Box<RustBuffer>> (*reader_read_buffer_at)(const RustReader *reader,
                                                   int64_t position,
                                                   int64_t size,
                                                   Failure *failure);
  /// Reads the metadata of an IPC message, or the footer of an IPC file as if it were a schema
  /// message.
  void (*message_facts)(const uint8_t *metadata, size_t size, bool is_footer, MessageFacts *out);
  Option<Box<RustWriter>> (*writer_open)(const RustBuffer *buffer, Failure *failure);
  /// Flushes buffered bytes.
  void (*writer_release)(Box<RustWriter> writer);
  bool (*writer_close)(const RustWriter *writer, Failure *failure);
  bool (*writer_is_closed)(const RustWriter *writer);
  bool (*writer_tell)(const RustWriter *writer, int64_t *out, Failure *failure);
  bool (*writer_seek)(const RustWriter *writer, int64_t position, Failure *failure);
  bool (*writer_write)(const RustWriter *writer, const void *data, int64_t size, Failure *failure);
  bool (*writer_write_device)(const RustWriter *writer, const RustBuffer *data, Failure *failure);
  bool (*writer_write_at)(const RustWriter *writer,
                          int64_t position,
                          const void *data,
                          int64_t size,
                          Failure *failure);
  bool (*writer_flush)(const RustWriter *writer, Failure *failure);
  bool (*writer_set_buffer_size)(const RustWriter *writer, int64_t size, Failure *failure);
};

/// The functions that the bridge needs from pyarrow's Cython module: the pointers in its capsules,
/// with pyarrow's C++ signatures.
struct PyarrowApi {
  /// `pyarrow_unwrap_buffer`: `std::shared_ptr<arrow::Buffer> (PyObject*)`.
  void *unwrap_buffer;
  /// `pyarrow_wrap_buffer`: `PyObject* (const std::shared_ptr<arrow::Buffer>&)`.
  void *wrap_buffer;
  /// `pyarrow_unwrap_array`: `std::shared_ptr<arrow::Array> (PyObject*)`.
  void *unwrap_array;
  /// `pyarrow_wrap_array`: `PyObject* (const std::shared_ptr<arrow::Array>&)`.
  void *wrap_array;
  /// `pyarrow_unwrap_batch`: `std::shared_ptr<arrow::RecordBatch> (PyObject*)`.
  void *unwrap_batch;
  /// `pyarrow_wrap_batch`: `PyObject* (const std::shared_ptr<arrow::RecordBatch>&)`.
  void *wrap_batch;
  /// `pyarrow_unwrap_schema`: `std::shared_ptr<arrow::Schema> (PyObject*)`.
  void *unwrap_schema;
  /// `pyarrow_wrap_schema`: `PyObject* (const std::shared_ptr<arrow::Schema>&)`.
  void *wrap_schema;
  /// `pyarrow_unwrap_data_type`: `std::shared_ptr<arrow::DataType> (PyObject*)`.
  void *unwrap_type;
  /// `pyarrow_wrap_data_type`: `PyObject* (const std::shared_ptr<arrow::DataType>&)`.
  void *wrap_type;
  /// `pyarrow_unwrap_chunked_array`: `std::shared_ptr<arrow::ChunkedArray> (PyObject*)`.
  void *unwrap_chunked_array;
  /// `pyarrow_wrap_chunked_array`: `PyObject* (const std::shared_ptr<arrow::ChunkedArray>&)`.
  void *wrap_chunked_array;
  /// `pyarrow_unwrap_table`: `std::shared_ptr<arrow::Table> (PyObject*)`.
  void *unwrap_table;
  /// `pyarrow_wrap_table`: `PyObject* (const std::shared_ptr<arrow::Table>&)`.
  void *wrap_table;
  /// `pyarrow.lib.Buffer.__pyx_vtable__`: init, getitem.
  void **buffer_vtable;
  /// `pyarrow.lib.NativeFile.__pyx_vtable__`: set_random_access_file, set_input_stream,
  /// set_output_stream, and more.
  void **native_file_vtable;
  /// `pyarrow.lib.MemoryPool.__pyx_vtable__`: init.
  void **memory_pool_vtable;
  /// `Py_DecRef`.
  void (*decref)(PyObject *object);
  /// `PyEval_SaveThread`.
  void *(*save_thread)();
  /// `PyEval_RestoreThread`.
  void (*restore_thread)(void *state);
};

/// The memory that any `pyarrow.Buffer` reports.
struct Span {
  /// The address, of the host or of a device.
  uint64_t address;
  /// The size, in bytes.
  int64_t size;
  /// Whether the host can read it.
  bool is_cpu;
  /// Whether it may be written to.
  bool is_mutable;
  /// `ARROW_DEVICE_*`.
  int32_t device_type;
  /// The device's number, -1 for the CPU.
  int64_t device;
};

/// C++'s functions for Rust.  Each function that takes a `PyObject` requires the GIL.
struct BridgeApi {
  uint32_t abi_version;
  int32_t arrow_major;
  /// In each `init_*`, `fresh` is an object of a subtype of `pyarrow.Buffer` or
  /// `pyarrow.NativeFile` whose base `tp_new` has run.  The function takes ownership of opaque
  /// pointers, even on failure.
  bool (*init_buffer)(PyObject *fresh, RustBuffer *buffer, Failure *failure);
  /// With a slice of `parent`: the slice keeps the C++ buffer behind `parent` alive.
  bool (*init_slice)(PyObject *fresh, PyObject *parent, RustBuffer *slice, Failure *failure);
  /// From any `pyarrow.Buffer` within device memory.  Fails with `buffer is not backed by a
  /// CudaBuffer`.
  bool (*init_from_buffer)(PyObject *fresh, PyObject *buffer, Failure *failure);
  bool (*init_host_buffer)(PyObject *fresh, RustHostBuffer *buffer, Failure *failure);
  /// From a slice of a `pyarrow.Buffer` over pinned memory; its device type is CUDA_HOST too.
  bool (*init_host_slice)(PyObject *fresh,
                          PyObject *host_buffer,
                          int64_t offset,
                          int64_t size,
                          Failure *failure);
  bool (*init_reader)(PyObject *fresh, PyObject *buffer, Failure *failure);
  bool (*init_writer)(PyObject *fresh, PyObject *buffer, Failure *failure);
  /// From a pool, which is never dropped; `fresh` is an object of a subtype of `pyarrow.MemoryPool`.
  bool (*init_pool)(PyObject *fresh, const RustPool *pool, Failure *failure);
  /// Borrowed: valid while the object lives.  Takes any Python object; null when it is not a
  /// device buffer or was never initialised.
  const RustBuffer *(*buffer_of)(PyObject *object);
  /// Borrowed, as above.  Takes any `pyarrow.NativeFile`.
  RustReader *(*reader_of)(PyObject *native_file);
  /// Borrowed, as above.  Takes any `pyarrow.NativeFile`.
  RustWriter *(*writer_of)(PyObject *native_file);
  /// The pool of an object of `init_pool`; null when it was never initialised.
  const RustPool *(*pool_of)(PyObject *object);
  /// False when `buffer` is not an initialised `pyarrow.Buffer`.
  bool (*span_of)(PyObject *buffer, Span *out);
  /// The address of such a buffer, which is exposed by this; false as above.
  bool (*expose_address)(PyObject *buffer, uint64_t *out);
  /// A `pyarrow.Buffer` (new reference) over host memory of the default pool, uninitialised.
  /// Unlike pyarrow's own function it keeps the GIL: a daemon thread that waits for the GIL while
  /// the interpreter ends is unwound, which Rust frames do not survive.
  PyObject *(*allocate_host)(int64_t size, Failure *failure);
  /// Whether a `pyarrow.RecordBatch` was ever initialised.
  bool (*has_batch)(PyObject *batch);
  /// Whether a `pyarrow.Schema` was ever initialised.
  bool (*has_schema)(PyObject *schema);
  /// Whether an Array, ChunkedArray, RecordBatch or Table was ever initialised.
  bool (*has_arrays)(PyObject *object);
  /// Whether a `pyarrow.RecordBatchReader`, by its class, was ever initialised.
  bool (*has_reader)(PyObject *reader);
  /// Whether any data of such an object, or of a `pyarrow.Buffer`, lies in device memory, whatever
  /// the object reports.
  bool (*is_on_device)(PyObject *object);
  /// The number of the device that the first such data lies on, -1 for none.
  int32_t (*device_of)(PyObject *object);
  /// Whether libarrow was ever given a device of this library: without one, nothing lies there.
  bool (*has_devices)();
  /// Takes a batch that lies entirely on the host.
  Payload *(*payload_open)(PyObject *batch, Failure *failure);
  /// Lays out the message: the concatenation of the ranges, which are valid until the next call.
  /// Does not require the GIL.
  bool (*payload_ranges)(Payload *payload, const HostRange **ranges, size_t *count, Failure *failure);
  /// Requires the GIL.
  void (*payload_release)(Payload *payload);
  /// The batch (new reference) of a message that lies in `buffer`.  Rust has copied and checked
  /// the metadata.  Takes ownership of `body`, a slice of the buffer, even on failure.  `memo`
  /// may be null.
  PyObject *(*read_batch)(PyObject *buffer,
                          PyObject *schema,
                          PyObject *memo,
                          const uint8_t *metadata,
                          size_t metadata_size,
                          const MessageFacts *facts,
                          RustBuffer *body,
                          Failure *failure);
  /// Gives a reader of `init_reader` the metadata at `position`, which Rust has copied and
  /// checked.  Reads at that position return these bytes, until another call passes null for
  /// `metadata`.
  bool (*expect_metadata)(PyObject *reader,
                          int64_t position,
                          const uint8_t *metadata,
                          size_t metadata_size,
                          const MessageFacts *facts,
                          Failure *failure);
  /// Before pyarrow exports `object`, a RecordBatch if it `is_batch`, else an Array: counts unknown
  /// nulls, which libarrow itself would count on the host.  Returns a new reference to the
  /// replacement, all of it on one device, or null without a failure if the object needs no change.
  /// Fails for an object of another kind and for an uninitialised one.
  PyObject *(*prepare)(PyObject *object, bool is_batch, Failure *failure);
  /// Counts the unknown nulls of an Array or RecordBatch, wherever it lies, and stores the counts.
  bool (*count_nulls)(PyObject *object, Failure *failure);
  /// A copy (new reference) of `object`, of the class `kind`, in the memory of
  /// `destination`, a pyarrow.Device if it `is_device`, else a pyarrow.MemoryManager; in the order of
  /// `stream`, unless that is null.  Null without a failure for an array or batch that libarrow itself
  /// copies, because neither the data nor the destination is on a GPU; and for a null `destination`, which only has the
  /// object checked.
  PyObject *(*copy_to)(PyObject *object,
                       DataKind kind,
                       PyObject *destination,
                       bool is_device,
                       const RustStream *stream,
                       Failure *failure);
  /// The number of the GPU of such a destination, -1 for none.
  int32_t (*destination_device)(PyObject *destination, bool is_device);
  /// A copy (new reference) of a pyarrow.Buffer in the memory of such a destination, or if it
  /// `is_view`, the same memory as the destination sees it.
  PyObject *(*buffer_to)(PyObject *buffer,
                         PyObject *destination,
                         bool is_device,
                         bool is_view,
                         Failure *failure);
  /// A RecordBatch (new reference) that reports the device that its data lies on, and whose nulls are
  /// counted; null without a failure if this one does, has none of its data there, or is another
  /// object.
  PyObject *(*placed)(PyObject *batch, Failure *failure);
  /// After pyarrow has exported `object`, an Array or RecordBatch: adds an event for pending work
  /// to `array`, an `ArrowDeviceArray`.  On failure, releases `array` and `schema`, an
  /// `ArrowSchema` or null.
  bool (*finish_export)(PyObject *object, void *array, void *schema, Failure *failure);
  /// Before libarrow imports: waits if the import itself reads the data, and counts the nulls of
  /// an array that becomes a batch.  `array` is an `ArrowDeviceArray`; its type is that of
  /// `schema`, an `ArrowSchema`, or if that is null, of `described`, a pyarrow.DataType or
  /// pyarrow.Schema.  Returns a new reference to the type or schema that was made of `schema`, or
  /// null without a failure if libarrow does that.  On failure, releases both structures.
  PyObject *(*prepare_import)(void *array,
                              void *schema,
                              PyObject *described,
                              bool is_batch,
                              Failure *failure);
  /// After libarrow has imported `object`: a new reference to the replacement, or null without a
  /// failure if the object needs no change.  Only the device of `array`, an `ArrowDeviceArray`,
  /// is read.
  PyObject *(*finish_import)(PyObject *object, const void *array, Failure *failure);
  /// Exports a Table, a ChunkedArray, or if it `is_reader` a RecordBatchReader, to `stream`, a
  /// released `ArrowDeviceArrayStream`.  A reader is read up to the first batch with memory.
  bool (*export_stream)(PyObject *object, bool is_reader, void *stream, Failure *failure);
  /// Initialises a fresh RecordBatchReader with the batches of an `ArrowDeviceArrayStream`, which is
  /// taken over, also on failure.
  bool (*import_stream)(PyObject *fresh, void *stream, Failure *failure);
  /// A ChunkedArray (new reference) of the arrays of such a stream.
  PyObject *(*import_chunks)(void *stream, Failure *failure);
  /// The array (new reference) without its data: an empty buffer replaces each buffer that is not
  /// plain host memory, which becomes its parent.
  PyObject *(*skeleton_of)(PyObject *array, Failure *failure);
  /// A RecordBatch of arrays, or a Table of chunked arrays (new reference).  Checks only types
  /// and lengths: libarrow's validation refuses empty device memory, whose address is 0.
  PyObject *(*assemble)(PyObject *schema, PyObject *const *columns, size_t count, Failure *failure);
};

/// The library's one export.  Both tables must outlive the process's use of the library.
using Entry = const BridgeApi*(*)(const RustApi *rust, const PyarrowApi *pyarrow, Failure *failure);

}  // namespace arrow_cuda
