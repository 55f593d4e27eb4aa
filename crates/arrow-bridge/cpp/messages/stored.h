// Tables of messages whose bodies are not read yet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrow/device.h"
#include "arrow/result.h"
#include "arrow/table.h"
#include "border/ffi.h"

namespace arrow_cuda {

// A table in the memory of `to`, of the columns with these names, or of all if there are none.  libarrow cuts bodies at addresses of no
// memory into columns; the bytes are then brought to the device, all at once.
arrow::Result<std::shared_ptr<arrow::Table>> TableOfStored(
    const RustStored* stored, const std::shared_ptr<arrow::MemoryManager>& to,
    const std::vector<std::string>& names);

}  // namespace arrow_cuda
