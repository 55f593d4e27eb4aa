// The values behind pyarrow's objects.
#pragma once

#include <memory>

#include "arrow/array/array_base.h"
#include "arrow/buffer.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"
#include "border/ffi.h"
#include "memory/buffer.h"

namespace arrow_cuda {

// The buffer behind any initialised pyarrow.Buffer.
arrow::Result<std::shared_ptr<arrow::Buffer>> RequireBuffer(PyObject* object);

// The array behind any initialised pyarrow.Array.
arrow::Result<std::shared_ptr<arrow::Array>> RequireArray(PyObject* object);

// The batch behind any initialised pyarrow.RecordBatch.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> RequireBatch(PyObject* object);

// The device memory behind any initialised pyarrow.Buffer, once it is ready.
arrow::Result<std::shared_ptr<DeviceBuffer>> RequireDeviceBuffer(PyObject* object);

}  // namespace arrow_cuda
