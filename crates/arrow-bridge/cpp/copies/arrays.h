// Copies of arrays between the host and GPUs, with all of their buffers at once.
#pragma once

#include <memory>
#include <optional>

#include "arrow/array/data.h"
#include "arrow/device.h"
#include "arrow/result.h"
#include "border/ffi.h"

namespace arrow_cuda {

// The arrays with copies of their whole buffers in the memory of `to`, children and dictionaries
// included, as `arrow::ArrayData::CopyTo` makes them.  Memory that several arrays share is copied
// once.  No value if libarrow has to make the copy: no memory of a GPU takes part in it.
//
// On a stream, which may be null, copies are made as `CopyBuffers` says.
arrow::Result<std::optional<arrow::ArrayDataVector>> CopyArrays(
    const arrow::ArrayDataVector& arrays, const std::shared_ptr<arrow::MemoryManager>& to,
    const RustStream* stream);

}  // namespace arrow_cuda
