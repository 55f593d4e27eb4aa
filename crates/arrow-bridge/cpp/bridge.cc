// The entries of `BridgeApi`, and the one function that the library exports.
#include "bridge.h"

#include <memory>
#include <typeinfo>
#include <utility>

#include "arrow/device.h"
#include "arrow/util/config.h"
#include "buffer.h"
#include "check.h"
#include "device.h"
#include "message_reader.h"
#include "pyarrow.h"
#include "resolve.h"
#include "rust.h"
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

bool IsOnDeviceEntry(PyObject* object) noexcept {
  const auto batch = UnwrapBatch(object);
  return batch != nullptr && IsOnDevice(*batch);
}

PyObject* CheckedBatchEntry(PyObject* object, Failure* failure) noexcept {
  PyObject* checked = nullptr;
  Guard(failure, [&]() -> Status {
    auto batch = UnwrapBatch(object);
    if (batch == nullptr) return Status::TypeError("expected an initialised pyarrow.RecordBatch");
    ARROW_RETURN_NOT_OK(CheckBatch(*batch));
    if (IsOnDevice(*batch)) {
      batch = arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), batch->column_data(),
                                       arrow::DeviceAllocationType::kCUDA);
    }
    return WrapBatch(batch).Value(&checked);
  });
  return checked;
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
    .is_on_device = IsOnDeviceEntry,
    .checked_batch = CheckedBatchEntry,
};

arrow::Result<std::shared_ptr<arrow::MemoryManager>> ManagerOf(int64_t device_id) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(device_id));
  return device->default_memory_manager();
}

// Lets libarrow import CUDA data from the C Device interface.
Status RegisterMapper() {
  const Status status =
      arrow::RegisterDeviceMapper(arrow::DeviceAllocationType::kCUDA, ManagerOf);
  // Somebody who was first does as well.
  return status.IsKeyError() ? Status::OK() : status;
}

Status Start(const RustApi* rust, const PyarrowApi* pyarrow) {
  if (rust == nullptr || pyarrow == nullptr) return Status::Invalid("missing table");
  if (rust->abi_version != kAbiVersion) {
    return Status::Invalid("the bridge has interface version ", kAbiVersion, ", its caller has ",
                           rust->abi_version);
  }
  SetTables(rust, pyarrow);
  return RegisterMapper();
}

}  // namespace
}  // namespace arrow_cuda

extern "C" __attribute__((visibility("default"))) const arrow_cuda::BridgeApi* arrow_cuda_bridge(
    const arrow_cuda::RustApi* rust, const arrow_cuda::PyarrowApi* pyarrow,
    arrow_cuda::Failure* failure) {
  using namespace arrow_cuda;
  return Guard(failure, [&] { return Start(rust, pyarrow); }) ? &kBridge : nullptr;
}
