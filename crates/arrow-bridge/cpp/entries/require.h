// The values behind pyarrow's objects.
#pragma once

#include "border/ffi.h"
#include "border/names.h"
#include "memory/buffer.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

// Null where there is no destination.
Result<ManagerPtr> ManagerOf(const Destination* destination);

// The data of any initialised Array, RecordBatch, ChunkedArray or Table, all chunks of it; none for
// other objects.
ArrayDataVector ColumnsOf(PyObject* object);

// The device memory behind any initialised pyarrow.Buffer, once it is ready.
Result<std::shared_ptr<DeviceBuffer>> RequireDeviceBuffer(PyObject* object);

}  // namespace arrow_cuda
