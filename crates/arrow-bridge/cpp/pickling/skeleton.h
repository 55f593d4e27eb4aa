// An array without its data, for transports that move the data separately.
#pragma once

#include <memory>

#include "arrow/array/data.h"

namespace arrow_cuda {

// The same type, length, null count and offset, all on the host.  An empty buffer replaces each
// buffer that is not plain host memory, which becomes its parent.
std::shared_ptr<arrow::ArrayData> SkeletonOf(const arrow::ArrayData& data);

}  // namespace arrow_cuda
