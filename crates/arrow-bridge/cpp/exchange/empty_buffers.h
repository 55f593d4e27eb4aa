// Empty buffers for arrays on a device: libarrow creates them on the host.
#pragma once

#include <optional>

#include "arrow/array/data.h"
#include "border/names.h"

namespace arrow_cuda {

struct Location {
  ManagerPtr manager;
  arrow::DeviceAllocationType type;
};

// The location of the first buffer that is not plain host memory, if any.
std::optional<Location> LocationOf(const ArrayDataVector& columns);

Location HostLocation();

bool NeedsBuffers(const ArrayData& data, const Location& location);

// The same data with empty buffers at `location` in place of those on the host, or null if there are
// none.  This includes the offsets of arrays without values, as C Device consumers read the first one, and
// characters that views lack.
Result<DataPtr> WithoutHostBuffers(const ArrayData& data, const Location& location);

}  // namespace arrow_cuda
