#include "memory/resolve.h"

#include "memory/device.h"
#include "border/calls.h"

namespace arrow_cuda {
namespace {

// The nearest DeviceBuffer among a buffer and its parents, which lives as long as `buffer`.
const DeviceBuffer* FindWhole(const arrow::Buffer& buffer) {
  for (const auto* part = &buffer; part != nullptr; part = part->parent().get()) {
    if (const auto* ours = AsDeviceBuffer(*part)) return ours;
    // A CPU view has the device memory as its parent, but different addresses.
    if (part->device_type() == arrow::DeviceAllocationType::kCUDA_HOST) return nullptr;
  }
  return nullptr;
}

// `buffer` as a slice of `whole`, which is writable if both are.
Result<Handle<RustBuffer>> SliceOf(const DeviceBuffer& whole, const arrow::Buffer& buffer) {
  const uint64_t offset = buffer.size() == 0 ? 0 : buffer.address() - whole.address();
  const auto size = static_cast<uint64_t>(whole.size());
  if (offset > size || static_cast<uint64_t>(buffer.size()) > size - offset) {
    return Status::Invalid("buffer lies outside the CudaBuffer that it is a part of");
  }
  const bool is_mutable = buffer.is_mutable() && whole.is_mutable();
  return Call(Rust().buffer_slice, whole.rust(), static_cast<int64_t>(offset), buffer.size(),
              is_mutable);
}

Result<Handle<RustBuffer>> ViewOf(const arrow::Buffer& buffer, Owner owner) {
  // The context of the import: the device may have another one by now, whose memory is at the same address.
  const auto* context = ContextOf(*buffer.memory_manager());
  if (context == nullptr) return Status::Invalid("buffer has a memory manager of another library");
  return Call(Rust().buffer_view, context, buffer.address(), buffer.size(), buffer.is_mutable(),
              owner);
}

Status NotOnDevice() { return Status::TypeError("buffer is not backed by a CudaBuffer"); }

using Keeper = BufferPtr;

void DropKeeper(void* owner) { delete static_cast<Keeper*>(owner); }

void DropNothing(void*) {}

}  // namespace

Status CheckSpan(const arrow::Buffer& buffer) {
  if (buffer.size() < 0) {
    return Status::Invalid("buffer has a negative size: ", buffer.size(),
                           "; of strings, the last offset is negative");
  }
  if (buffer.size() > 0 && buffer.address() == 0) {
    return Status::Invalid("buffer of ", buffer.size(), " bytes has a null address");
  }
  return Status::OK();
}

EventPtr EventOf(const arrow::Buffer& buffer) {
  for (const auto* part = &buffer; part != nullptr; part = part->parent().get()) {
    if (auto event = part->device_sync_event()) return event;
  }
  return nullptr;
}

Status WaitUntilReady(const arrow::Buffer& buffer) {
  const auto event = EventOf(buffer);
  return event == nullptr ? Status::OK() : event->Wait();
}

bool IsOnDevice(const arrow::Buffer& buffer) {
  // libarrow's mutable slices of device memory report is_cpu(): check the parents as well.
  return IsCuda(*buffer.memory_manager()) || FindWhole(buffer) != nullptr;
}

int32_t NumberOf(const arrow::Buffer& buffer) {
  const auto* whole = FindWhole(buffer);
  const arrow::Buffer& there = whole == nullptr ? buffer : *whole;
  return static_cast<int32_t>(there.device()->device_id());
}

const RustBuffer* RustBufferOf(const arrow::Buffer& buffer) {
  const auto* whole = FindWhole(buffer);
  return whole == nullptr ? nullptr : whole->rust();
}

const RustContext* ContextOf(const arrow::Buffer& buffer) {
  if (const auto* ours = RustBufferOf(buffer)) return Rust().context_of(ours);
  return ContextOf(*buffer.memory_manager());
}

void Expose(const arrow::Buffer& buffer) {
  if (const auto* ours = RustBufferOf(buffer)) Rust().buffer_expose(ours);
}

Result<std::shared_ptr<DeviceBuffer>> ResolveDevice(const BufferPtr& buffer) {
  if (auto ours = AsDeviceBuffer(buffer)) return ours;
  ARROW_RETURN_NOT_OK(CheckSpan(*buffer));
  if (const auto* whole = FindWhole(*buffer)) {
    ARROW_ASSIGN_OR_RAISE(auto slice, SliceOf(*whole, *buffer));
    // The parent is the device buffer itself: DeviceBuffer releases such chains one by one.
    auto parent = buffer->parent();
    while (parent.get() != whole) parent = parent->parent();
    return DeviceBuffer::Make(std::move(slice), std::move(parent));
  }
  if (!IsCuda(*buffer->memory_manager())) return NotOnDevice();
  ARROW_RETURN_NOT_OK(WaitUntilReady(*buffer));
  const Owner owner{new Keeper(buffer), DropKeeper};
  ARROW_ASSIGN_OR_RAISE(auto view, ViewOf(*buffer, owner));
  return DeviceBuffer::Make(std::move(view), buffer);
}

Result<Borrowed> Borrowed::From(const arrow::Buffer& buffer) {
  if (const auto* ours = AsDeviceBuffer(buffer)) return Borrowed(ours->rust());
  ARROW_RETURN_NOT_OK(CheckSpan(buffer));
  if (const auto* whole = FindWhole(buffer)) {
    ARROW_ASSIGN_OR_RAISE(auto slice, SliceOf(*whole, buffer));
    return Borrowed(std::move(slice));
  }
  if (!IsCuda(*buffer.memory_manager())) return NotOnDevice();
  ARROW_ASSIGN_OR_RAISE(auto view, ViewOf(buffer, Owner{nullptr, DropNothing}));
  return Borrowed(std::move(view));
}

}  // namespace arrow_cuda
