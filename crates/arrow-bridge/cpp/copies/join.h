// Arrays on a device that become one.
#pragma once

#include <vector>

#include "arrow/array/data.h"
#include "border/names.h"

namespace arrow_cuda {

// For each column of arrays on one device one array with the elements of all of them, as
// `arrow::Concatenate` makes it on the host.  All are allocated together and filled at once, after the
// work of the default stream.
Result<ArrayDataVector> Join(std::vector<ArrayDataVector> columns);

}  // namespace arrow_cuda
