#include "memory/buffer.h"

#include <typeinfo>
#include <utility>

#include "memory/device.h"

namespace arrow_cuda {
namespace {

// A batch consists of hundreds of slices: reusing the parent's manager saves a look-up for each.
Result<ManagerPtr> ManagerOf(const RustBuffer* buffer, const arrow::Buffer* parent) {
  const int32_t device = Rust().buffer_facts(buffer).device;
  if (parent != nullptr && AsDeviceBuffer(*parent) != nullptr &&
      parent->device()->device_id() == device) {
    return parent->memory_manager();
  }
  ARROW_ASSIGN_OR_RAISE(const auto on, Device::Get(device));
  return on->ManagerOf(Rust().context_of(buffer));
}

class HostSlice : public arrow::Buffer {
 public:
  HostSlice(const BufferPtr& buffer, int64_t offset, int64_t size)
      : arrow::Buffer(buffer->data() + offset, size, buffer->memory_manager(), WholeOf(buffer),
                      arrow::DeviceAllocationType::kCUDA_HOST) {
    is_mutable_ = buffer->is_mutable();
  }

 private:
  // A slice of a slice does not retain that one: the destructors of a long chain would call each
  // other and exhaust the stack.
  static BufferPtr WholeOf(const BufferPtr& buffer) {
    const arrow::Buffer& whole = *buffer;
    return typeid(whole) == typeid(HostSlice) ? buffer->parent() : buffer;
  }
};

}  // namespace

Result<std::unique_ptr<DeviceBuffer>> DeviceBuffer::Make(
    Handle<RustBuffer> rust, BufferPtr parent) {
  ARROW_ASSIGN_OR_RAISE(auto manager, ManagerOf(rust.get(), parent.get()));
  return std::make_unique<DeviceBuffer>(std::move(rust), std::move(manager), std::move(parent));
}

DeviceBuffer::DeviceBuffer(const BufferPlace& rust, ManagerPtr manager) noexcept
    : DeviceBuffer(Rust().buffer_facts(At(rust)), std::move(manager), nullptr) {
  rust_ = rust;
}

DeviceBuffer::DeviceBuffer(Handle<RustBuffer> rust, ManagerPtr manager, BufferPtr parent) noexcept
    : DeviceBuffer(Rust().buffer_facts(rust.get()), std::move(manager), std::move(parent)) {
  Rust().buffer_move(rust.release(), &rust_);
}

DeviceBuffer::DeviceBuffer(const BufferFacts& facts, ManagerPtr manager, BufferPtr parent) noexcept
    : arrow::Buffer(static_cast<uintptr_t>(facts.address), facts.size, std::move(manager),
                    std::move(parent)) {
  is_mutable_ = facts.is_mutable;
}

// Releases a chain of slices one by one.  Otherwise each destructor would call the next, and a long
// chain would exhaust the stack.
DeviceBuffer::~DeviceBuffer() {
  BufferPtr last = std::move(parent_);
  while (last.use_count() == 1 && AsDeviceBuffer(*last) != nullptr) {
    last = BufferPtr(std::move(static_cast<DeviceBuffer&>(*last).parent_));
  }
  Rust().buffer_release_at(&rust_);
}

const DeviceBuffer* AsDeviceBuffer(const arrow::Buffer& buffer) {
  // There is one type_info of the class, because only this library knows it: no names to compare.
  return &typeid(buffer) == &typeid(DeviceBuffer) ? static_cast<const DeviceBuffer*>(&buffer)
                                                  : nullptr;
}

std::shared_ptr<DeviceBuffer> AsDeviceBuffer(const BufferPtr& buffer) {
  if (buffer == nullptr || AsDeviceBuffer(*buffer) == nullptr) return nullptr;
  return std::static_pointer_cast<DeviceBuffer>(buffer);
}

std::shared_ptr<HostBuffer> HostBuffer::Make(Handle<RustHostBuffer> rust) {
  const HostFacts facts = Rust().host_buffer_facts(rust.get());
  return std::shared_ptr<HostBuffer>(new HostBuffer(std::move(rust), facts));
}

HostBuffer::HostBuffer(Handle<RustHostBuffer> rust, const HostFacts& facts)
    : arrow::MutableBuffer(facts.data, facts.size), rust_(std::move(rust)) {
  device_type_ = arrow::DeviceAllocationType::kCUDA_HOST;
}

Result<BufferPtr> HostBuffer::Slice(const BufferPtr& buffer, int64_t offset, int64_t size) {
  if (!buffer->is_cpu() || buffer->device_type() != arrow::DeviceAllocationType::kCUDA_HOST) {
    return Status::TypeError("buffer is not a HostBuffer");
  }
  if (offset < 0) return Status::IndexError("Negative buffer slice offset");
  if (size < 0) return Status::IndexError("Negative buffer slice length");
  if (offset > buffer->size() || size > buffer->size() - offset) {
    return Status::IndexError("buffer slice would exceed buffer length");
  }
  return std::make_shared<HostSlice>(buffer, offset, size);
}

}  // namespace arrow_cuda
