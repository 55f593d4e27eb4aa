// From any arrow::Buffer to the device memory behind it.
#pragma once

#include <memory>
#include <utility>

#include "memory/buffer.h"

namespace arrow_cuda {

// Fails for what no buffer may say of itself: a negative size, or no address with a size.
arrow::Status CheckSpan(const arrow::Buffer& buffer);

// What says when the work that produces the buffer's bytes is done, null when nobody does.
// Slices have no event of their own: their parents are asked.
std::shared_ptr<arrow::Device::SyncEvent> EventOf(const arrow::Buffer& buffer);

// Blocks until that work is done.
arrow::Status WaitUntilReady(const arrow::Buffer& buffer);

// Whether the memory is a GPU's, whatever class the buffer is of.
bool IsOnDevice(const arrow::Buffer& buffer);

// The same memory as a DeviceBuffer that keeps `buffer` alive, with its bytes ready.
arrow::Result<std::shared_ptr<DeviceBuffer>> ResolveDevice(
    const std::shared_ptr<arrow::Buffer>& buffer);

// A Rust buffer for the time of one call, owned only where `buffer` had none.
class Borrowed {
 public:
  static arrow::Result<Borrowed> From(const arrow::Buffer& buffer);

  const RustBuffer* get() const { return rust_; }

 private:
  explicit Borrowed(const RustBuffer* rust) : rust_(rust) {}
  explicit Borrowed(Handle<RustBuffer> owned) : owned_(std::move(owned)), rust_(owned_.get()) {}

  Handle<RustBuffer> owned_;
  const RustBuffer* rust_;
};

}  // namespace arrow_cuda
