#include "memory/memory_manager.h"

#include <algorithm>
#include <utility>

#include "memory/buffer.h"
#include "memory/reader.h"
#include "memory/resolve.h"
#include "border/calls.h"
#include "memory/writer.h"

namespace arrow_cuda {
namespace {

// Small writes are buffered in this much pinned memory.
constexpr int64_t kWriterBufferSize = int64_t{8} << 20;

Result<std::unique_ptr<DeviceBuffer>> Allocate(const RustContext* context, int64_t size) {
  if (size < 0) return Status::Invalid("cannot allocate a negative size: ", size);
  ARROW_ASSIGN_OR_RAISE(auto rust, Call(Rust().buffer_allocate, context, size));
  return DeviceBuffer::Make(std::move(rust));
}

// Copies wait for the source's producer, whatever the direction.
Status Prepare(const arrow::Buffer& source) {
  ARROW_RETURN_NOT_OK(CheckSpan(source));
  return WaitUntilReady(source);
}

Result<std::unique_ptr<arrow::Buffer>> FromHost(const RustContext* context, const arrow::Buffer& source) {
  ARROW_ASSIGN_OR_RAISE(auto copy, Allocate(context, source.size()));
  ARROW_RETURN_NOT_OK(Call(Rust().copy_from_host, copy->rust(), 0, source.data(), source.size()));
  return copy;
}

Result<std::unique_ptr<arrow::Buffer>> FromDevice(const RustContext* context, const arrow::Buffer& source) {
  ARROW_ASSIGN_OR_RAISE(const auto from, Borrowed::From(source));
  ARROW_ASSIGN_OR_RAISE(auto copy, Allocate(context, source.size()));
  ARROW_RETURN_NOT_OK(Call(Rust().copy_from_device, copy->rust(), 0, from.get()));
  return copy;
}

}  // namespace

Result<FilePtr> MemoryManager::GetBufferReader(BufferPtr buffer) {
  ARROW_ASSIGN_OR_RAISE(auto ours, ResolveDevice(buffer));
  return Reader::Open<BodyReader>(std::move(ours));
}

Result<OutputPtr> MemoryManager::GetBufferWriter(BufferPtr buffer) {
  ARROW_ASSIGN_OR_RAISE(auto ours, ResolveDevice(buffer));
  const int64_t buffered = std::min(kWriterBufferSize, ours->size());
  ARROW_ASSIGN_OR_RAISE(auto writer, Writer::Open(std::move(ours)));
  if (buffered > 0) ARROW_RETURN_NOT_OK(writer->SetBufferSize(buffered));
  return writer;
}

Result<std::unique_ptr<arrow::Buffer>> MemoryManager::AllocateBuffer(int64_t size) {
  return Allocate(context(), size);
}

Result<EventPtr> MemoryManager::WrapDeviceSyncEvent(
    void* event, arrow::Device::SyncEvent::release_fn_t release) {
  return Device::SyncEvent::Wrap(context(), event, std::move(release));
}

Result<BufferPtr> MemoryManager::CopyBufferFrom(const BufferPtr& buffer, const ManagerPtr& from) {
  return CopyNonOwnedFrom(*buffer, from);
}

Result<BufferPtr> MemoryManager::CopyBufferTo(const BufferPtr& buffer, const ManagerPtr& to) {
  return CopyNonOwnedTo(*buffer, to);
}

Result<std::unique_ptr<arrow::Buffer>> MemoryManager::CopyNonOwnedFrom(
    const arrow::Buffer& buffer, const ManagerPtr& from) {
  // libarrow's mutable slices of device memory report is_cpu(): check before any access.
  const bool on_device = IsOnDevice(buffer);
  if (!on_device && !from->is_cpu()) return nullptr;
  ARROW_RETURN_NOT_OK(Prepare(buffer));
  return on_device ? FromDevice(context(), buffer) : FromHost(context(), buffer);
}

Result<std::unique_ptr<arrow::Buffer>> MemoryManager::CopyNonOwnedTo(
    const arrow::Buffer& buffer, const ManagerPtr& to) {
  if (!to->is_cpu()) return nullptr;
  ARROW_RETURN_NOT_OK(Prepare(buffer));
  ARROW_ASSIGN_OR_RAISE(const auto from, Borrowed::From(buffer));
  ARROW_ASSIGN_OR_RAISE(auto copy, to->AllocateBuffer(buffer.size()));
  ARROW_RETURN_NOT_OK(Call(Rust().copy_to_host, from.get(), 0, copy->mutable_data(), buffer.size()));
  return copy;
}

Result<BufferPtr> MemoryManager::ViewBufferFrom(const BufferPtr& buffer, const ManagerPtr& from) {
  if (!from->is_cpu()) return nullptr;
  ARROW_RETURN_NOT_OK(CheckSpan(*buffer));
  if (buffer->size() == 0) return AllocateBuffer(0);
  ARROW_ASSIGN_OR_RAISE(const uint64_t address,
                        Call(Rust().device_address, context(), buffer->data()));
  if (address == 0) return nullptr;
  return std::make_shared<arrow::Buffer>(static_cast<uintptr_t>(address), buffer->size(),
                                         shared_from_this(), buffer);
}

Result<BufferPtr> MemoryManager::ViewBufferTo(const BufferPtr& buffer, const ManagerPtr& to) {
  if (!to->is_cpu()) return nullptr;
  ARROW_RETURN_NOT_OK(CheckSpan(*buffer));
  if (buffer->size() == 0) return to->AllocateBuffer(0);
  ARROW_ASSIGN_OR_RAISE(const uint8_t* address,
                        Call(Rust().host_address, context(), buffer->address()));
  if (address == nullptr) return nullptr;
  // The view has no event for its reader to wait for, so wait here.
  ARROW_RETURN_NOT_OK(WaitUntilReady(*buffer));
  return std::make_shared<arrow::Buffer>(address, buffer->size(), to, buffer,
                                         arrow::DeviceAllocationType::kCUDA_HOST);
}

}  // namespace arrow_cuda
