// Copies of arrays between the host and GPUs, with all of their buffers at once.
#pragma once

#include <memory>
#include <optional>

#include "arrow/array/data.h"
#include "arrow/device.h"
#include "arrow/result.h"

namespace arrow_cuda {

// The arrays with copies of their whole buffers in the memory of `to`, children and dictionaries
// included, as `arrow::ArrayData::CopyTo` makes them.  A buffer that several arrays share is copied
// once.  No value if libarrow has to make the copy: no memory of a GPU takes part in it.
arrow::Result<std::optional<arrow::ArrayDataVector>> CopyArrays(
    const arrow::ArrayDataVector& arrays, const std::shared_ptr<arrow::MemoryManager>& to);

}  // namespace arrow_cuda
