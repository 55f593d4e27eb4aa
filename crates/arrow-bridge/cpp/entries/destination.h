// Where copies go: a pyarrow.Device or pyarrow.MemoryManager.
#pragma once

#include <memory>

#include "arrow/device.h"
#include "arrow/result.h"
#include "border/ffi.h"

namespace arrow_cuda {

struct Destination {
  PyObject* object;
  bool is_device;

  // Null where there is no destination.
  arrow::Result<std::shared_ptr<arrow::MemoryManager>> Manager() const;
};

}  // namespace arrow_cuda
