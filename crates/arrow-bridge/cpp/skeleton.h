// A record batch without its data, for those who carry the data by other ways.
#pragma once

#include <memory>

#include "arrow/record_batch.h"

namespace arrow_cuda {

// The same types, lengths, null counts and offsets, all of them on the host.  Each buffer that is
// not plain host memory is an empty one, whose parent is the buffer that was there.
std::shared_ptr<arrow::RecordBatch> SkeletonOf(const arrow::RecordBatch& batch);

}  // namespace arrow_cuda
