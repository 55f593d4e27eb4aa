#include "exchange/view_sizes.h"

#include <memory>
#include <utility>

#include "arrow/buffer.h"
#include "border/rust.h"
#include "border/status.h"
#include "memory/device.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

// Validity and views come before the buffers, and the sizes after them.
constexpr int64_t kOtherBuffers = 3;

struct Brought {
  // Where the structure has the address of the sizes, what was there, and the copy.
  const void** place;
  const void* original;
  std::vector<int64_t> sizes;
};

// The private data of such a structure, in addition to its producer's.
struct Attached {
  std::vector<Brought> brought;
  void (*release)(ArrowArray*);
  void* private_data;
};

// The consumer may have moved the structure, and may call from any thread.
void ReleaseAttached(ArrowArray* array) {
  const std::unique_ptr<Attached> attached(static_cast<Attached*>(array->private_data));
  for (const Brought& each : attached->brought) *each.place = each.original;
  array->release = attached->release;
  array->private_data = attached->private_data;
  array->release(array);
}

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
  std::unique_ptr<Attached> attached(
      new Attached{{}, structure->release, structure->private_data});
  for (const ArrowArray* array : views) {
    const void** place = &array->buffers[array->n_buffers - 1];
    ARROW_ASSIGN_OR_RAISE(const bool is_there, IsOnDevice(device, *place));
    if (!is_there) continue;
    ARROW_ASSIGN_OR_RAISE(auto sizes, Copied(*place, array->n_buffers - kOtherBuffers, device));
    attached->brought.push_back({place, *place, std::move(sizes)});
  }
  if (attached->brought.empty()) return Status::OK();
  for (const Brought& each : attached->brought) *each.place = each.sizes.data();
  structure->private_data = attached.release();
  structure->release = ReleaseAttached;
  return Status::OK();
}

}  // namespace arrow_cuda
