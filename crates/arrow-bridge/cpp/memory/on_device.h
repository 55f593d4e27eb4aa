// Whether data lies in device memory, whatever its objects report.
//
// libarrow assumes that the whole array lies where its first buffer reports.
#pragma once

#include <cstdint>

#include "arrow/array/data.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// Whether any buffer lies in device memory, including those of children and dictionaries.
bool IsOnDevice(const ArrayData& data);
bool IsOnDevice(const ArrayDataVector& columns);
bool IsOnDevice(const arrow::ChunkedArray& array);
bool IsOnDevice(const arrow::RecordBatch& batch);
bool IsOnDevice(const arrow::Table& table);

// The contexts to which all of it belongs.
Contexts ContextsOf(const ArrayDataVector& columns);

// The one context to which all of it belongs; null for none, or several.
const RustContext* OneContextOf(const ArrayDataVector& columns);

// The number of the GPU that the first such buffer lies on, -1 for none.
int32_t DeviceOf(const ArrayDataVector& columns);

}  // namespace arrow_cuda
