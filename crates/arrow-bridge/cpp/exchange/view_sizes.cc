#include "exchange/view_sizes.h"

#include <utility>

#include "arrow/buffer.h"
#include "border/calls.h"
#include "exchange/keep_alive.h"
#include "memory/device.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

// Validity and views come before the buffers, and the sizes after them.
constexpr int64_t kOtherBuffers = 3;

// Copies of sizes, to which a structure points until this goes.
class HostSizes {
 public:
  HostSizes() = default;
  HostSizes(HostSizes&&) = default;
  HostSizes& operator=(HostSizes&&) = delete;
  ~HostSizes() {
    for (const Copy& each : copies_) *each.place = each.original;
  }

  void Add(const void** place, std::vector<int64_t> sizes) {
    copies_.push_back({place, *place, std::move(sizes)});
  }

  bool IsEmpty() const { return copies_.empty(); }

  void Install() {
    for (const Copy& each : copies_) *each.place = each.sizes.data();
  }

 private:
  struct Copy {
    // Where the structure has the address of the sizes, and what was there.
    const void** place;
    const void* original;
    std::vector<int64_t> sizes;
  };

  std::vector<Copy> copies_;
};

Result<bool> IsOnDevice(int32_t device, const void* address) {
  return Call(Rust().is_device_memory, device, reinterpret_cast<uint64_t>(address));
}

Result<std::vector<int64_t>> Copied(const void* address, int64_t count, int32_t number) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(number));
  int64_t size = 0;
  if (__builtin_mul_overflow(count, int64_t{sizeof(int64_t)}, &size)) {
    return Status::Invalid("an array has an impossible number of buffers: ", count);
  }
  const arrow::Buffer there(static_cast<const uint8_t*>(address), size,
                            device->default_memory_manager());
  // Compares the size with what is allocated there.
  ARROW_ASSIGN_OR_RAISE(const auto memory, Borrowed::From(there));
  std::vector<int64_t> sizes(static_cast<size_t>(count));
  auto* out = reinterpret_cast<uint8_t*>(sizes.data());
  ARROW_RETURN_NOT_OK(Call(Rust().copy_to_host, memory.get(), 0, out, size));
  return sizes;
}

}  // namespace

Status CopySizesToHost(const std::vector<ArrowArray*>& views, int32_t device, ArrowArray* structure) {
  HostSizes host_sizes;
  for (const ArrowArray* array : views) {
    const void** place = &array->buffers[array->n_buffers - 1];
    ARROW_ASSIGN_OR_RAISE(const bool is_there, IsOnDevice(device, *place));
    if (!is_there) continue;
    ARROW_ASSIGN_OR_RAISE(auto sizes, Copied(*place, array->n_buffers - kOtherBuffers, device));
    host_sizes.Add(place, std::move(sizes));
  }
  if (host_sizes.IsEmpty()) return Status::OK();
  host_sizes.Install();
  KeepAlive(std::move(host_sizes), structure);
  return Status::OK();
}

}  // namespace arrow_cuda
