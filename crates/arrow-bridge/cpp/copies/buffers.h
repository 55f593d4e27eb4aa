// Copies of many buffers between the host and GPUs, made together.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "arrow/buffer.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// The stream that copies are made on, none for the default stream, and what keeps their sources.
struct Order {
  const RustStream* stream = nullptr;
  std::shared_ptr<const void> owner;
};

// Waits for what produces the buffers, or has the stream wait for it, which may be null.
Status WaitForAll(const std::vector<const arrow::Buffer*>& sources, const RustStream* stream);

// Copies of the buffers in the memory of `to`.  Each source waits for its producer.  On a GPU, the
// copies lie in one allocation, in the order of their sources.  No value, and nothing done, if
// libarrow has to make them: no GPU takes part, or memory that is neither the host's nor a GPU's.
//
// Copies on a stream are queued, and retain the order's owner, if they are made from device memory or
// all from pinned memory, to a GPU; else they are made once the stream has come to them.
Result<std::optional<std::vector<BufferPtr>>> CopyBuffers(
    const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to, const Order& order);

// As `CopyBuffers`, to a GPU, of host memory that its producers have written.
Result<std::optional<std::vector<BufferPtr>>> CopyHostBuffers(
    const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to, const Order& order);

// As `CopyBuffers`, to a GPU, of slices of bodies that are not read yet.  `use` gets the copies while
// threads write to them.
using UseCopies = std::function<Status(std::vector<BufferPtr>)>;
Status CopyBodyBuffers(const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to,
                         const RustBodyReader* bodies, const UseCopies& use);

}  // namespace arrow_cuda
