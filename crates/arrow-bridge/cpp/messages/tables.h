// Tables of messages whose bodies are not read yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// A table in the memory of `to`, of the columns with these names, in their order, or of all columns.
// libarrow cuts bodies at addresses of no memory into columns; then all bytes are copied together.
Result<TablePtr> TableFrom(const RustBodyReader* bodies, const ManagerPtr& to,
                           const std::optional<std::vector<std::string>>& names);

}  // namespace arrow_cuda
