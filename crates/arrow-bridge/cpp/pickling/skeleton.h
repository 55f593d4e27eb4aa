// An array without its data, for those who carry the data by other ways.
#pragma once

#include <memory>

#include "arrow/array/data.h"

namespace arrow_cuda {

// The same type, length, null count and offset, all of it on the host.  Each buffer that is not
// plain host memory is an empty one, whose parent is the buffer that was there.
std::shared_ptr<arrow::ArrayData> SkeletonOf(const arrow::ArrayData& data);

}  // namespace arrow_cuda
