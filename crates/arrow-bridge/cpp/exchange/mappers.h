// The memory managers for data that libarrow imports by the C Device interface.
#pragma once

#include "arrow/status.h"

namespace arrow_cuda {

// Registers a mapper for each kind of CUDA memory: device, managed, and pinned.
arrow::Status RegisterMappers();

}  // namespace arrow_cuda
