// Arrays and batches as the C Device interface demands them: nulls counted, all memory in one place, at
// addresses that kernels can load from.
// libarrow creates empty buffers on the host.
#pragma once

#include <optional>

#include "border/names.h"

namespace arrow_cuda {

struct Location {
  ManagerPtr manager;
  arrow::DeviceAllocationType type;
};

// The location of the first buffer that is not plain host memory, if any.
std::optional<Location> LocationOf(const ArrayDataVector& columns);

// Whether libarrow can export the columns as they are.
bool IsExportable(const ArrayDataVector& columns);

// The same data, which libarrow can export; `data` itself if it can export that.
Result<ArrayPtr> Exportable(const ArrayPtr& data);
Result<BatchPtr> Exportable(const BatchPtr& data);

// The same data with all empty buffers at `location`; `data` itself if they are there.  This includes the
// offsets of arrays without values, as C Device consumers read the first one, and characters that
// views lack.
Result<ArrayPtr> WithEmptyBuffersAt(const ArrayPtr& data, const Location& location);
Result<BatchPtr> WithEmptyBuffersAt(const BatchPtr& data, const Location& location);

}  // namespace arrow_cuda
