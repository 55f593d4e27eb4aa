// Whether the buffers of a batch are as long as its arrays claim.
#pragma once

#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "border/names.h"

namespace arrow_cuda {

// libarrow refuses deeper nesting.
constexpr int kMaxDepth = 64;

// Whether arrays of a type have one more offset than values: the start of each, and the last end.
bool HasEndOffset(arrow::Type::type id);

// Reads only sizes and no data, so it works for arrays on a device.
Status CheckBatch(const arrow::RecordBatch& batch);

// The type that determines the layout: for an extension type, its storage type.
const DataType& StorageOf(const DataType& type);

}  // namespace arrow_cuda
