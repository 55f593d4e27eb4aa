// The buffers behind pyarrow's objects.
#pragma once

#include <memory>

#include "arrow/buffer.h"
#include "arrow/result.h"
#include "border/ffi.h"
#include "memory/buffer.h"

namespace arrow_cuda {

// The buffer behind any initialised pyarrow.Buffer.
arrow::Result<std::shared_ptr<arrow::Buffer>> RequireBuffer(PyObject* object);

// The device memory behind any initialised pyarrow.Buffer, once it is ready.
arrow::Result<std::shared_ptr<DeviceBuffer>> RequireDeviceBuffer(PyObject* object);

}  // namespace arrow_cuda
