// Which memory manager libarrow gives to what it imports from the C Device interface.
#pragma once

#include "arrow/status.h"

namespace arrow_cuda {

// Registers one for each kind of memory that CUDA has: a GPU's, managed, and pinned.
arrow::Status RegisterMappers();

}  // namespace arrow_cuda
