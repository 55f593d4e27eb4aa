// Buffers over device memory and pinned memory, and pools of pinned memory.
#include "entries/entries.h"

#include <utility>

#include "arrow/c/dlpack_abi.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "border/rust.h"
#include "border/status.h"
#include "entries/require.h"
#include "memory/buffer.h"
#include "memory/pinned_pool.h"
#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

Failure InitBufferEntry(PyObject* fresh, PyObject* parent, RustBuffer* raw) noexcept {
  Handle<RustBuffer> rust(raw);
  return Guard([&]() -> Status {
    BufferPtr whole;
    if (parent != nullptr) {
      ARROW_ASSIGN_OR_RAISE(whole, Require<arrow::Buffer>(parent));
    }
    ARROW_ASSIGN_OR_RAISE(auto buffer, DeviceBuffer::Make(std::move(rust), std::move(whole)));
    return InitBuffer(fresh, std::move(buffer));
  });
}

Failure InitFromBufferEntry(PyObject* fresh, PyObject* buffer) noexcept {
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, RequireDeviceBuffer(buffer));
    return InitBuffer(fresh, std::move(ours));
  });
}

Failure InitHostBufferEntry(PyObject* fresh, RustHostBuffer* raw) noexcept {
  Handle<RustHostBuffer> rust(raw);
  return Guard([&] { return InitBuffer(fresh, HostBuffer::Make(std::move(rust))); });
}

Failure InitHostSliceEntry(PyObject* fresh, PyObject* host_buffer, int64_t offset,
                           int64_t size) noexcept {
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const auto whole, Require<arrow::Buffer>(host_buffer));
    ARROW_ASSIGN_OR_RAISE(const auto part, HostBuffer::Slice(whole, offset, size));
    return InitBuffer(fresh, part);
  });
}

const RustBuffer* BufferOfEntry(PyObject* object) noexcept {
  const auto buffer = Unwrap<arrow::Buffer>(object);
  const auto* ours = buffer == nullptr ? nullptr : AsDeviceBuffer(*buffer);
  return ours == nullptr ? nullptr : ours->rust();
}

const RustBuffer* FindElementsEntry(PyObject* object, Elements* out) noexcept {
  const auto array = Unwrap<arrow::Array>(object);
  if (array == nullptr || !arrow::is_numeric(array->type_id()) || array->length() == 0) {
    return nullptr;
  }
  const auto& buffers = array->data()->buffers;
  const auto* values =
      buffers[0] == nullptr && buffers[1] != nullptr ? AsDeviceBuffer(*buffers[1]) : nullptr;
  if (values == nullptr) return nullptr;
  const uint8_t code = arrow::is_floating(array->type_id())         ? kDLFloat
                       : arrow::is_signed_integer(array->type_id()) ? kDLInt
                                                                    : kDLUInt;
  const auto bits = static_cast<uint8_t>(array->type()->bit_width());
  *out = Elements{code, bits, array->offset(), array->length()};
  return values->rust();
}

bool FindSpanEntry(PyObject* object, Span* out) noexcept {
  const auto buffer = Unwrap<arrow::Buffer>(object);
  if (buffer == nullptr) return false;
  const bool is_cpu = buffer->is_cpu() && !IsOnDevice(*buffer);
  *out = Span{buffer->address(),
              buffer->size(),
              is_cpu,
              buffer->is_mutable(),
              static_cast<int32_t>(buffer->device_type()),
              buffer->device()->device_id()};
  return true;
}

bool ExposedAddressEntry(PyObject* object, uint64_t* out) noexcept {
  const auto buffer = Unwrap<arrow::Buffer>(object);
  if (buffer == nullptr) return false;
  Expose(*buffer);
  *out = buffer->address();
  return true;
}

Outcome<PyObject*> AllocateHostEntry(int64_t size) noexcept {
  return GuardValue([&]() -> Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(BufferPtr buffer, arrow::AllocateBuffer(size));
    return Wrap(buffer);
  });
}

Failure InitPoolEntry(PyObject* fresh, const RustPool* pool) noexcept {
  return Guard([&] { return InitPool(fresh, PinnedPool::Of(pool)); });
}

const RustPool* PoolOfEntry(PyObject* object) noexcept {
  const auto* pool = static_cast<const PinnedPool*>(UnwrapPool(object));
  return pool == nullptr ? nullptr : pool->raw();
}

}  // namespace arrow_cuda
