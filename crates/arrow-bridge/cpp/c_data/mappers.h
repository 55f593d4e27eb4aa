// The memory managers for data that libarrow imports by the C Device interface.
#pragma once

#include "border/names.h"

namespace arrow_cuda {

// Registers a mapper for each kind of CUDA memory: device, managed, and pinned.
Status RegisterMappers();

}  // namespace arrow_cuda
