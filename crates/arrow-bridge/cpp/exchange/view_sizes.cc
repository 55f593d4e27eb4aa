#include "exchange/view_sizes.h"

#include <utility>
#include <vector>

#include "arrow/buffer.h"
#include "border/rust.h"
#include "border/status.h"
#include "exchange/attached.h"
#include "memory/device.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

// Validity and views come before the buffers, and the sizes after them.
constexpr int64_t kOtherBuffers = 3;

// Copies of sizes, to which a structure points until this goes.
class Brought {
 public:
  Brought() = default;
  Brought(Brought&&) = default;
  Brought& operator=(Brought&&) = delete;
  ~Brought() {
    for (const Copy& each : copies_) *each.place = each.original;
  }

  void Add(const void** place, std::vector<int64_t> sizes) {
    copies_.push_back({place, *place, std::move(sizes)});
  }

  bool IsEmpty() const { return copies_.empty(); }

  void Show() {
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

arrow::Result<bool> IsOnDevice(int32_t device, const void* address) {
  bool is_there = false;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    return Rust().is_device_memory(device, reinterpret_cast<uint64_t>(address), &is_there, failure);
  }));
  return is_there;
}

arrow::Result<std::vector<int64_t>> Copied(const void* address, int64_t count, int32_t number) {
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
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    auto* out = reinterpret_cast<uint8_t*>(sizes.data());
    return Rust().copy_to_host(memory.get(), 0, out, size, failure);
  }));
  return sizes;
}

}  // namespace

Status BringSizes(const std::vector<ArrowArray*>& views, int32_t device, ArrowArray* structure) {
  Brought brought;
  for (const ArrowArray* array : views) {
    const void** place = &array->buffers[array->n_buffers - 1];
    ARROW_ASSIGN_OR_RAISE(const bool is_there, IsOnDevice(device, *place));
    if (!is_there) continue;
    ARROW_ASSIGN_OR_RAISE(auto sizes, Copied(*place, array->n_buffers - kOtherBuffers, device));
    brought.Add(place, std::move(sizes));
  }
  if (brought.IsEmpty()) return Status::OK();
  brought.Show();
  Attach(std::move(brought), structure);
  return Status::OK();
}

}  // namespace arrow_cuda
