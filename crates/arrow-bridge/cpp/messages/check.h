// Whether the buffers of a batch are as long as its arrays claim.
#pragma once

#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "arrow/status.h"
#include "arrow/type_fwd.h"

namespace arrow_cuda {

// libarrow refuses deeper nesting.
constexpr int kMaxDepth = 64;

// Whether arrays of a type have one more offset than values: the start of each, and the last end.
bool HasEndOffset(arrow::Type::type id);

// Reads only sizes and no data, so it works for arrays on a device.
arrow::Status CheckBatch(const arrow::RecordBatch& batch);

// The type that determines the layout: for an extension type, its storage type.
const arrow::DataType& StorageOf(const arrow::DataType& type);

}  // namespace arrow_cuda
