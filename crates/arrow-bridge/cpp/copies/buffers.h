// Copies of many buffers between the host and GPUs, made together.
#pragma once

#include <memory>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/device.h"
#include "arrow/result.h"

namespace arrow_cuda {

// Whether `CopyBuffers` makes these copies: each source and `to` are the host's memory or a GPU's, and
// not all of them the host's.
bool CanCopyBuffers(const std::vector<const arrow::Buffer*>& sources,
                    const arrow::MemoryManager& to);

// Copies of the buffers in the memory of `to`.  Each source waits for its producer.  On a GPU, the
// copies lie in one allocation, in the order of their sources.
arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> CopyBuffers(
    const std::vector<const arrow::Buffer*>& sources,
    const std::shared_ptr<arrow::MemoryManager>& to);

}  // namespace arrow_cuda
