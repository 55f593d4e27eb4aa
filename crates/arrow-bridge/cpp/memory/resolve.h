// From any arrow::Buffer to the device memory behind it.
#pragma once

#include <cstdint>
#include <utility>

#include "border/names.h"
#include "memory/buffer.h"

namespace arrow_cuda {

// Fails for an inconsistent buffer: a negative size, or a null address with a size.
Status CheckSpan(const arrow::Buffer& buffer);

// The event after the work that produces the buffer's bytes, or null. Slices use the events of
// their parents.
EventPtr EventOf(const arrow::Buffer& buffer);

// Blocks until that work is complete.
Status WaitUntilReady(const arrow::Buffer& buffer);

// Whether the memory is a GPU's, whatever the class of the buffer.
bool IsOnDevice(const arrow::Buffer& buffer);

int32_t NumberOf(const arrow::Buffer& buffer);

// The memory behind a buffer that was allocated or is viewed here, else null.
const RustBuffer* RustBufferOf(const arrow::Buffer& buffer);

// The context that the device memory belongs to, as long as the buffer lives; null for host memory.
const RustContext* ContextOf(const arrow::Buffer& buffer);

// The address is about to reach other libraries, whose work nobody here knows.
void Expose(const arrow::Buffer& buffer);

// The same memory as a DeviceBuffer that keeps `buffer` alive, with its bytes ready.
Result<std::shared_ptr<DeviceBuffer>> ResolveDevice(const BufferPtr& buffer);

// A Rust buffer for one call, owned only if it was made for the call.
class Borrowed {
 public:
  static Result<Borrowed> From(const arrow::Buffer& buffer);

  const RustBuffer* get() const { return rust_; }

 private:
  explicit Borrowed(const RustBuffer* rust) : rust_(rust) {}
  explicit Borrowed(Handle<RustBuffer> owned) : owned_(std::move(owned)), rust_(owned_.get()) {}

  Handle<RustBuffer> owned_;
  const RustBuffer* rust_;
};

}  // namespace arrow_cuda
