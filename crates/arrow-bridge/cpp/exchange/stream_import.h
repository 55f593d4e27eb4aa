// Streams of the C Device interface that other libraries export.
#pragma once

#include <memory>

#include "arrow/c/abi.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"

namespace arrow_cuda {

// Each takes the stream over, also on failure.  A stream has one device: another one's data is an
// error.

// Reads the stream's arrays as batches.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ImportBatches(
    ArrowDeviceArrayStream* stream);

// All of the stream's arrays.
arrow::Result<std::shared_ptr<arrow::ChunkedArray>> ImportChunks(ArrowDeviceArrayStream* stream);

}  // namespace arrow_cuda
