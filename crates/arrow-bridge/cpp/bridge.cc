// The entries of `BridgeApi`, and the one function that the library exports.
#include "bridge.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/c/abi.h"
#include "arrow/c/helpers.h"
#include "arrow/util/config.h"
#include "assembly.h"
#include "batch.h"
#include "buffer.h"
#include "c_device.h"
#include "check.h"
#include "empty_buffers.h"
#include "mappers.h"
#include "message_reader.h"
#include "null_count.h"
#include "payload.h"
#include "pyarrow.h"
#include "resolve.h"
#include "rust.h"
#include "skeleton.h"
#include "status.h"
#include "writer.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

// The exact class behind a pyarrow object, null when it is another one.
template <typename T, typename Base>
T* Exactly(Base* object) {
  return object != nullptr && typeid(*object) == typeid(T) ? static_cast<T*>(object) : nullptr;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> BufferBehind(PyObject* object) {
  auto buffer = UnwrapBuffer(object);
  if (buffer == nullptr) return Status::TypeError("expected an initialised pyarrow.Buffer");
  return buffer;
}

arrow::Result<std::shared_ptr<DeviceBuffer>> DeviceBehind(PyObject* object) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, BufferBehind(object));
  if (auto ours = AsDeviceBuffer(buffer)) return ours;
  // An imported buffer has its producer to wait for.
  WithoutGil unlocked;
  return ResolveDevice(buffer);
}

bool InitBufferEntry(PyObject* fresh, RustBuffer* raw, Failure* failure) noexcept {
  Handle<RustBuffer> rust(raw);
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto buffer, DeviceBuffer::Make(std::move(rust)));
    return InitBuffer(fresh, std::move(buffer));
  });
}

bool InitSliceEntry(PyObject* fresh, PyObject* parent, RustBuffer* raw,
                    Failure* failure) noexcept {
  Handle<RustBuffer> rust(raw);
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto whole, BufferBehind(parent));
    ARROW_ASSIGN_OR_RAISE(auto buffer, DeviceBuffer::Make(std::move(rust), std::move(whole)));
    return InitBuffer(fresh, std::move(buffer));
  });
}

bool InitFromBufferEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept {
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, DeviceBehind(buffer));
    return InitBuffer(fresh, std::move(ours));
  });
}

bool InitHostBufferEntry(PyObject* fresh, RustHostBuffer* raw, Failure* failure) noexcept {
  Handle<RustHostBuffer> rust(raw);
  return Guard(failure,
               [&]() -> Status { return InitBuffer(fresh, HostBuffer::Make(std::move(rust))); });
}

bool InitReaderEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept {
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, DeviceBehind(buffer));
    ARROW_ASSIGN_OR_RAISE(auto reader, Reader::Open<MessageReader>(std::move(ours)));
    return InitReadable(fresh, std::move(reader));
  });
}

bool InitWriterEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept {
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, DeviceBehind(buffer));
    ARROW_ASSIGN_OR_RAISE(auto writer, Writer::Open(std::move(ours)));
    return InitWritable(fresh, std::move(writer));
  });
}

const RustBuffer* BufferOfEntry(PyObject* object) noexcept {
  const auto buffer = UnwrapBuffer(object);
  const auto* ours = Exactly<const DeviceBuffer>(buffer.get());
  return ours == nullptr ? nullptr : ours->rust();
}

RustReader* ReaderOfEntry(PyObject* object) noexcept {
  const auto file = UnwrapFile(object);
  // The file interfaces are virtual bases: only a dynamic cast leads from them to the class.
  const auto* ours = dynamic_cast<const MessageReader*>(file.get());
  return ours == nullptr ? nullptr : ours->rust();
}

RustWriter* WriterOfEntry(PyObject* object) noexcept {
  const auto stream = UnwrapStream(object);
  const auto* ours = dynamic_cast<const Writer*>(stream.get());
  return ours == nullptr ? nullptr : ours->rust();
}

bool SpanOfEntry(PyObject* object, SpanFacts* out) noexcept {
  const auto buffer = UnwrapBuffer(object);
  if (buffer == nullptr) return false;
  const bool is_cpu = buffer->is_cpu() && !IsOnDevice(*buffer);
  *out = SpanFacts{buffer->address(),
                   buffer->size(),
                   is_cpu,
                   buffer->is_mutable(),
                   static_cast<int32_t>(buffer->device_type()),
                   buffer->device()->device_id()};
  return true;
}

bool InitHostSliceEntry(PyObject* fresh, PyObject* host_buffer, int64_t offset, int64_t size,
                        Failure* failure) noexcept {
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const auto whole, BufferBehind(host_buffer));
    ARROW_ASSIGN_OR_RAISE(const auto part, HostBuffer::Slice(whole, offset, size));
    return InitBuffer(fresh, part);
  });
}

PyObject* AllocateHostEntry(int64_t size, Failure* failure) noexcept {
  PyObject* allocated = nullptr;
  Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(size));
    return WrapBuffer(buffer).Value(&allocated);
  });
  return allocated;
}

bool HasBatchEntry(PyObject* object) noexcept { return UnwrapBatch(object) != nullptr; }

bool HasSchemaEntry(PyObject* object) noexcept { return UnwrapSchema(object) != nullptr; }

bool HasArraysEntry(PyObject* object) noexcept { return HasArrays(object); }

bool IsOnDeviceEntry(PyObject* object) noexcept { return IsAnyOnDevice(object); }

Payload* PayloadOpenEntry(PyObject* object, Failure* failure) noexcept {
  Payload* payload = nullptr;
  Guard(failure, [&]() -> Status {
    auto batch = UnwrapBatch(object);
    if (batch == nullptr) return Status::TypeError("expected an initialised pyarrow.RecordBatch");
    payload = new Payload(std::move(batch));
    return Status::OK();
  });
  return payload;
}

bool PayloadPartsEntry(Payload* payload, const HostPart** parts, size_t* count,
                       Failure* failure) noexcept {
  return Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const auto found, payload->Parts());
    *parts = found.data();
    *count = found.size();
    return Status::OK();
  });
}

void PayloadReleaseEntry(Payload* payload) noexcept { delete payload; }

PyObject* ReadBatchEntry(PyObject* buffer, PyObject* schema_object, PyObject* memo,
                         const uint8_t* metadata, size_t metadata_size, RustBuffer* raw,
                         bool is_compressed, Failure* failure) noexcept {
  Handle<RustBuffer> rust(raw);
  PyObject* read = nullptr;
  Guard(failure, [&]() -> Status {
    const auto schema = UnwrapSchema(schema_object);
    if (schema == nullptr) return Status::TypeError("expected an initialised pyarrow.Schema");
    ARROW_ASSIGN_OR_RAISE(auto whole, BufferBehind(buffer));
    ARROW_ASSIGN_OR_RAISE(auto body, DeviceBuffer::Make(std::move(rust), std::move(whole)));
    const auto read_it = [&] {
      WithoutGil unlocked;
      return ReadBatch(schema, UnwrapMemo(memo), {metadata, metadata_size}, std::move(body),
                       is_compressed);
    };
    ARROW_ASSIGN_OR_RAISE(const auto batch, read_it());
    return WrapBatch(batch).Value(&read);
  });
  return read;
}

PyObject* SkeletonOfEntry(PyObject* object, Failure* failure) noexcept {
  PyObject* skeleton = nullptr;
  Guard(failure, [&]() -> Status {
    const auto array = UnwrapArray(object);
    if (array == nullptr) return Status::TypeError("expected an initialised pyarrow.Array");
    return WrapArray(arrow::MakeArray(SkeletonOf(*array->data()))).Value(&skeleton);
  });
  return skeleton;
}

PyObject* AssembleEntry(PyObject* schema, PyObject* const* columns, size_t count,
                        Failure* failure) noexcept {
  PyObject* assembled = nullptr;
  Guard(failure, [&] { return Assemble(schema, columns, count).Value(&assembled); });
  return assembled;
}

// What a failed export or import leaves behind: nothing.
bool ReleaseUnless(bool succeeded, ArrowDeviceArray* array, void* schema) noexcept {
  if (!succeeded) {
    ArrowArrayRelease(&array->array);
    if (schema != nullptr) ArrowSchemaRelease(static_cast<ArrowSchema*>(schema));
  }
  return succeeded;
}

arrow::ArrayDataVector ColumnsOf(PyObject* object) {
  if (const auto array = UnwrapArray(object)) return {array->data()};
  const auto batch = UnwrapBatch(object);
  if (batch == nullptr) return {};
  return batch->column_data();
}

Status CountNullsOf(const arrow::ArrayDataVector& columns) {
  const auto is_uncounted = [](const auto& column) { return HasUncountedNulls(*column); };
  if (std::none_of(columns.begin(), columns.end(), is_uncounted)) return Status::OK();
  WithoutGil unlocked;
  for (const auto& column : columns) ARROW_RETURN_NOT_OK(CountNulls(*column));
  return Status::OK();
}

// Puts everything at `home`; whether there was anything to do.  An offset that has to be made there
// waits for the default stream's work.
arrow::Result<bool> Move(const Home& home, arrow::ArrayDataVector* columns) {
  WithoutGil unlocked;
  bool changed = false;
  for (auto& column : *columns) {
    ARROW_ASSIGN_OR_RAISE(auto data, WithoutHostBuffers(*column, home));
    if (data == nullptr) continue;
    column = std::move(data);
    changed = true;
  }
  return changed;
}

// The same with everything at `home`, or null where it is.
arrow::Result<PyObject*> MovedArray(const arrow::Array& array, const Home& home) {
  arrow::ArrayDataVector columns{array.data()};
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(home, &columns));
  if (!changed) return nullptr;
  return WrapArray(arrow::MakeArray(columns.front()));
}

arrow::Result<PyObject*> MovedBatch(const arrow::RecordBatch& batch, const Home& home) {
  auto columns = batch.column_data();
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(home, &columns));
  if (!changed) return nullptr;
  return WrapBatch(arrow::RecordBatch::Make(batch.schema(), batch.num_rows(), std::move(columns),
                                            home.type, batch.GetSyncEvent()));
}

arrow::Result<PyObject*> PrepareArray(PyObject* object, bool to_host) {
  const auto array = UnwrapArray(object);
  if (array == nullptr) return Status::TypeError("expected an initialised pyarrow.Array");
  if (to_host) return nullptr;
  const arrow::ArrayDataVector columns{array->data()};
  ARROW_RETURN_NOT_OK(CountNullsOf(columns));
  const auto home = HomeOf(columns);
  if (!home.has_value()) return nullptr;
  return MovedArray(*array, *home);
}

arrow::Result<PyObject*> PrepareBatch(PyObject* object, bool to_host) {
  const auto batch = UnwrapBatch(object);
  if (batch == nullptr) return Status::TypeError("expected an initialised pyarrow.RecordBatch");
  if (to_host) return nullptr;
  const arrow::ArrayDataVector& columns = batch->column_data();
  ARROW_RETURN_NOT_OK(CountNullsOf(columns));
  const auto home = HomeOf(columns);
  if (!home.has_value()) return nullptr;
  return MovedBatch(*batch, *home);
}

PyObject* PrepareEntry(PyObject* object, bool is_batch, bool to_host, Failure* failure) noexcept {
  PyObject* prepared = nullptr;
  Guard(failure, [&]() -> Status {
    auto result = is_batch ? PrepareBatch(object, to_host) : PrepareArray(object, to_host);
    return std::move(result).Value(&prepared);
  });
  return prepared;
}

bool FinishExportEntry(PyObject* object, void* exported, void* schema, Failure* failure) noexcept {
  auto* array = static_cast<ArrowDeviceArray*>(exported);
  // The interface demands zeros, libarrow leaves what was there.
  std::fill(std::begin(array->reserved), std::end(array->reserved), 0);
  // An event that is there already is a newer pyarrow's.
  if (!IsOnGpu(*array) || array->sync_event != nullptr) return true;
  const bool succeeded = Guard(failure, [&]() -> Status {
    const auto columns = ColumnsOf(object);
    WithoutGil unlocked;
    return AttachEvent(columns, array);
  });
  return ReleaseUnless(succeeded, array, schema);
}

bool PrepareImportEntry(void* imported, void* schema, bool is_batch, Failure* failure) noexcept {
  auto* array = static_cast<ArrowDeviceArray*>(imported);
  if (array->device_type == ARROW_DEVICE_CPU) return true;
  const bool succeeded = Guard(failure, [&]() -> Status {
    WithoutGil unlocked;
    return PrepareImport(is_batch, array);
  });
  return ReleaseUnless(succeeded, array, schema);
}

PyObject* FinishImportEntry(PyObject* object, const void* imported, Failure* failure) noexcept {
  const auto& origin = *static_cast<const ArrowDeviceArray*>(imported);
  if (!IsOnGpu(origin)) return nullptr;
  PyObject* finished = nullptr;
  Guard(failure, [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const auto home, HomeOf(origin));
    if (const auto array = UnwrapArray(object)) {
      return MovedArray(*array, home).Value(&finished);
    }
    const auto batch = UnwrapBatch(object);
    if (batch == nullptr) return Status::TypeError("expected an Array or RecordBatch");
    return MovedBatch(*batch, home).Value(&finished);
  });
  return finished;
}

constexpr BridgeApi kBridge{
    .abi_version = kAbiVersion,
    .arrow_major = ARROW_VERSION_MAJOR,
    .init_buffer = InitBufferEntry,
    .init_slice = InitSliceEntry,
    .init_from_buffer = InitFromBufferEntry,
    .init_host_buffer = InitHostBufferEntry,
    .init_reader = InitReaderEntry,
    .init_writer = InitWriterEntry,
    .buffer_of = BufferOfEntry,
    .reader_of = ReaderOfEntry,
    .writer_of = WriterOfEntry,
    .span_of = SpanOfEntry,
    .init_host_slice = InitHostSliceEntry,
    .allocate_host = AllocateHostEntry,
    .has_batch = HasBatchEntry,
    .has_schema = HasSchemaEntry,
    .has_arrays = HasArraysEntry,
    .is_on_device = IsOnDeviceEntry,
    .payload_open = PayloadOpenEntry,
    .payload_parts = PayloadPartsEntry,
    .payload_release = PayloadReleaseEntry,
    .read_batch = ReadBatchEntry,
    .prepare = PrepareEntry,
    .finish_export = FinishExportEntry,
    .prepare_import = PrepareImportEntry,
    .finish_import = FinishImportEntry,
    .skeleton_of = SkeletonOfEntry,
    .assemble = AssembleEntry,
};

Status Start(const RustApi* rust, const PyarrowApi* pyarrow) {
  if (rust == nullptr || pyarrow == nullptr) return Status::Invalid("missing table");
  if (rust->abi_version != kAbiVersion) {
    return Status::Invalid("the bridge has interface version ", kAbiVersion, ", its caller has ",
                           rust->abi_version);
  }
  SetTables(rust, pyarrow);
  return RegisterMappers();
}

}  // namespace
}  // namespace arrow_cuda

extern "C" __attribute__((visibility("default"))) const arrow_cuda::BridgeApi* arrow_cuda_bridge(
    const arrow_cuda::RustApi* rust, const arrow_cuda::PyarrowApi* pyarrow,
    arrow_cuda::Failure* failure) {
  using namespace arrow_cuda;
  return Guard(failure, [&] { return Start(rust, pyarrow); }) ? &kBridge : nullptr;
}
