// Concatenates arrays on a device.
#pragma once

#include <vector>

#include "arrow/array/data.h"
#include "border/names.h"

namespace arrow_cuda {

// Concatenates the arrays of each column, which lie on one device, as `arrow::Concatenate` does on the host.
// Makes one allocation, and fills it after the work of the default stream.
Result<ArrayDataVector> Join(std::vector<ArrayDataVector> columns);

}  // namespace arrow_cuda
