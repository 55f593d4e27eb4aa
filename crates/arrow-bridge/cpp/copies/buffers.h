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
// copies lie in one allocation, in the order of their sources.  No value, and nothing done, if
// libarrow has to make them: no GPU takes part, or memory that is neither the host's nor a GPU's.
arrow::Result<std::optional<std::vector<std::shared_ptr<arrow::Buffer>>>> CopyBuffers(
    const std::vector<const arrow::Buffer*>& sources,
    const std::shared_ptr<arrow::MemoryManager>& to);

}  // namespace arrow_cuda
