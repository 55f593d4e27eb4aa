// Copies of many buffers between the host and GPUs, made together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/device.h"
#include "arrow/result.h"

namespace arrow_cuda {

// Copies of the buffers in the memory of `to`.  Each source waits for its producer.  On a GPU, the
// copies lie in one allocation, in the order of their sources.  No value, before anything is done, if
// libarrow has to make them: no memory of a GPU takes part, or other memory than the host's and GPUs'.
arrow::Result<std::optional<std::vector<std::shared_ptr<arrow::Buffer>>>> CopyBuffers(
    const std::vector<const arrow::Buffer*>& sources,
    const std::shared_ptr<arrow::MemoryManager>& to);

}  // namespace arrow_cuda
