// Whether data lies in device memory, whatever the objects over it say of themselves.
//
// libarrow takes what the first buffer says for where all of an array lies.
#pragma once

#include "arrow/array/data.h"
#include "arrow/type_fwd.h"

namespace arrow_cuda {

// Whether any buffer does, those of children and dictionaries included.
bool IsOnDevice(const arrow::ArrayData& data);
bool IsOnDevice(const arrow::ChunkedArray& array);
bool IsOnDevice(const arrow::RecordBatch& batch);
bool IsOnDevice(const arrow::Table& table);

}  // namespace arrow_cuda
