// Whether the buffers of a batch are as long as its arrays claim.
#pragma once

#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "arrow/status.h"

namespace arrow_cuda {

// Reads no data, only sizes, so it does for arrays on a device.
arrow::Status CheckBatch(const arrow::RecordBatch& batch);

// Whether any buffer, those of children and dictionaries included, lies on a device.
bool IsOnDevice(const arrow::ArrayData& data);
bool IsOnDevice(const arrow::RecordBatch& batch);

}  // namespace arrow_cuda
