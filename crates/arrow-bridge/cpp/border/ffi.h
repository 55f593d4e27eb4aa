// The border between Rust and libarrow, generated from src/ffi.rs by tests/header.rs: change that
// file, which documents each function, who owns what, and how a function fails.

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

constexpr static const uint32_t kAbiVersion = 12;

enum class Kind : int32_t {
  kNone = 0,
  kInvalid = 1,
  kIo = 2,
  kType = 3,
  kNotImplemented = 4,
  kMemory = 5,
  kIndex = 6,
  kPython = 7,
  kKey = 8,
  kCapacity = 9,
};

enum class MessageKind : int32_t {
  kUnreadable = 0,
  kSchema = 1,
  kDictionary = 2,
  kBatch = 3,
  kOther = 4,
};

enum class DataKind : int32_t {
  kArray = 0,
  kBatch = 1,
  kChunkedArray = 2,
  kTable = 3,
};

struct Payload;

struct PyObject;

struct Failure {
  Kind kind;
  char text[1020];
};

struct Owner {
  void *owner;
  void (*drop)(void *owner);
};

struct BufferFacts {
  uint64_t address;
  int64_t size;
  int32_t device;
  bool is_mutable;
};

struct BufferPlace {
  uint64_t words[4];
};

struct HostRange {
  const uint8_t *data;
  size_t size;
};

struct HostTarget {
  uint8_t *data;
  size_t size;
};

struct HostFacts {
  uint8_t *data;
  int64_t size;
};

struct MessageFacts {
  MessageKind kind;
  int64_t body_size;
  bool is_swapped;
  bool is_delta;
  bool stays_on_device;
  bool is_compressed;
};

struct RustApi {
  uint32_t abi_version;
  bool (*device_name)(int32_t device, char *out, size_t capacity, Failure *failure);
  Option<Box<RustBuffer>> (*buffer_allocate)(int32_t device, int64_t size, Failure *failure);
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
  void (*buffer_expose)(const RustBuffer *buffer);
  void (*buffer_release)(Box<RustBuffer> buffer);
  void (*buffer_move)(Box<RustBuffer> buffer, BufferPlace *out);
  void (*buffer_release_at)(BufferPlace *place);
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
  bool (*copies_of_host)(int32_t device,
                         const RustStream *stream,
                         const HostRange *ranges,
                         size_t count,
                         Owner owner,
                         BufferPlace *out,
                         Failure *failure);
  bool (*copies_of_buffers)(int32_t device,
                            const RustStream *stream,
                            const RustBuffer *const *buffers,
                            size_t count,
                            Owner owner,
                            BufferPlace *out,
                            Failure *failure);
  bool (*stream_await_for)(const RustStream *stream,
                           const RustBuffer *const *buffers,
                           size_t count,
                           Failure *failure);
  bool (*copy_all_to_host)(const RustBuffer *const *buffers,
                           const HostTarget *targets,
                           size_t count,
                           Failure *failure);
  void (*host_buffer_facts)(const RustHostBuffer *buffer, HostFacts *out);
  void (*host_buffer_release)(Box<RustHostBuffer> buffer);
  uint8_t *(*pool_allocate)(const RustPool *pool, int64_t size, int64_t alignment, Failure *failure);
  uint8_t *(*pool_reallocate)(const RustPool *pool,
                              uint8_t *data,
                              int64_t old_size,
                              int64_t new_size,
                              int64_t alignment,
                              Failure *failure);
  void (*pool_free)(const RustPool *pool, uint8_t *data, int64_t size);
  void (*pool_release_unused)(const RustPool *pool);
  bool (*host_address)(int32_t device, uint64_t device_address, void **out, Failure *failure);
  bool (*is_device_memory)(int32_t device, uint64_t address, bool *out, Failure *failure);
  bool (*device_address)(int32_t device, const void *host_address, uint64_t *out, Failure *failure);
  Option<Box<RustEvent>> (*event_create)(int32_t device, Failure *failure);
  Option<Box<RustEvent>> (*event_wrap)(int32_t device, void *const *place, Failure *failure);
  void (*event_release)(Box<RustEvent> event);
  void **(*event_place)(const RustEvent *event);
  bool (*event_record)(const RustEvent *event, const RustStream *stream, Failure *failure);
  bool (*event_wait)(const RustEvent *event, Failure *failure);
  bool (*event_pending)(int32_t device,
                        const RustEvent *const *events,
                        size_t count,
                        Option<Box<RustEvent>> *out,
                        Failure *failure);
  Option<Box<RustStream>> (*stream_create)(int32_t device, uint32_t flags, Failure *failure);
  Option<Box<RustStream>> (*stream_wrap)(int32_t device, void *const *place, Failure *failure);
  void (*stream_release)(Box<RustStream> stream);
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
  void (*message_facts)(const uint8_t *metadata, size_t size, bool is_footer, MessageFacts *out);
  Option<Box<RustWriter>> (*writer_open)(const RustBuffer *buffer, Failure *failure);
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

struct PyarrowApi {
  void *unwrap_buffer;
  void *wrap_buffer;
  void *unwrap_array;
  void *wrap_array;
  void *unwrap_batch;
  void *wrap_batch;
  void *unwrap_schema;
  void *wrap_schema;
  void *unwrap_type;
  void *wrap_type;
  void *unwrap_chunked_array;
  void *wrap_chunked_array;
  void *unwrap_table;
  void *wrap_table;
  void **buffer_vtable;
  void **native_file_vtable;
  void **memory_pool_vtable;
  void (*decref)(PyObject *object);
  void *(*save_thread)();
  void (*restore_thread)(void *state);
};

struct Span {
  uint64_t address;
  int64_t size;
  bool is_cpu;
  bool is_mutable;
  int32_t device_type;
  int64_t device;
};

struct BridgeApi {
  uint32_t abi_version;
  int32_t arrow_major;
  bool (*init_buffer)(PyObject *fresh, RustBuffer *buffer, Failure *failure);
  bool (*init_slice)(PyObject *fresh, PyObject *parent, RustBuffer *slice, Failure *failure);
  bool (*init_from_buffer)(PyObject *fresh, PyObject *buffer, Failure *failure);
  bool (*init_host_buffer)(PyObject *fresh, RustHostBuffer *buffer, Failure *failure);
  bool (*init_host_slice)(PyObject *fresh,
                          PyObject *host_buffer,
                          int64_t offset,
                          int64_t size,
                          Failure *failure);
  bool (*init_reader)(PyObject *fresh, PyObject *buffer, Failure *failure);
  bool (*init_writer)(PyObject *fresh, PyObject *buffer, Failure *failure);
  bool (*init_pool)(PyObject *fresh, const RustPool *pool, Failure *failure);
  const RustBuffer *(*buffer_of)(PyObject *object);
  RustReader *(*reader_of)(PyObject *native_file);
  RustWriter *(*writer_of)(PyObject *native_file);
  const RustPool *(*pool_of)(PyObject *object);
  bool (*span_of)(PyObject *buffer, Span *out);
  bool (*expose_address)(PyObject *buffer, uint64_t *out);
  PyObject *(*allocate_host)(int64_t size, Failure *failure);
  bool (*has_batch)(PyObject *batch);
  bool (*has_schema)(PyObject *schema);
  bool (*has_arrays)(PyObject *object);
  bool (*has_reader)(PyObject *reader);
  bool (*is_on_device)(PyObject *object);
  int32_t (*device_of)(PyObject *object);
  bool (*has_devices)();
  Payload *(*payload_open)(PyObject *batch, Failure *failure);
  bool (*payload_ranges)(Payload *payload, const HostRange **ranges, size_t *count, Failure *failure);
  void (*payload_release)(Payload *payload);
  PyObject *(*read_batch)(PyObject *buffer,
                          PyObject *schema,
                          PyObject *memo,
                          const uint8_t *metadata,
                          size_t metadata_size,
                          const MessageFacts *facts,
                          RustBuffer *body,
                          Failure *failure);
  bool (*expect_metadata)(PyObject *reader,
                          int64_t position,
                          const uint8_t *metadata,
                          size_t metadata_size,
                          const MessageFacts *facts,
                          Failure *failure);
  PyObject *(*prepare)(PyObject *object, bool is_batch, Failure *failure);
  bool (*count_nulls)(PyObject *object, Failure *failure);
  PyObject *(*copy_to)(PyObject *object,
                       DataKind kind,
                       PyObject *destination,
                       bool is_device,
                       const RustStream *stream,
                       Failure *failure);
  int32_t (*destination_device)(PyObject *destination, bool is_device);
  PyObject *(*buffer_to)(PyObject *buffer,
                         PyObject *destination,
                         bool is_device,
                         bool is_view,
                         Failure *failure);
  PyObject *(*placed)(PyObject *batch, Failure *failure);
  bool (*finish_export)(PyObject *object, void *array, void *schema, Failure *failure);
  PyObject *(*prepare_import)(void *array,
                              void *schema,
                              PyObject *described,
                              bool is_batch,
                              Failure *failure);
  PyObject *(*finish_import)(PyObject *object, const void *array, Failure *failure);
  bool (*export_stream)(PyObject *object, bool is_reader, void *stream, Failure *failure);
  bool (*import_stream)(PyObject *fresh, void *stream, Failure *failure);
  PyObject *(*import_chunks)(void *stream, Failure *failure);
  PyObject *(*skeleton_of)(PyObject *array, Failure *failure);
  PyObject *(*assemble)(PyObject *schema, PyObject *const *columns, size_t count, Failure *failure);
};

using Entry = const BridgeApi*(*)(const RustApi *rust, const PyarrowApi *pyarrow, Failure *failure);

}  // namespace arrow_cuda
