// What libarrow leaves out around the C Device interface: events of exported arrays, and data that
// is read during an import.
#pragma once

#include <memory>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/c/abi.h"
#include "arrow/result.h"
#include "arrow/status.h"
#include "exchange/empty_buffers.h"

namespace arrow_cuda {

// Whether the GPU works on the structure's memory, so that it may have to be waited for.
bool IsOnGpu(const ArrowDeviceArray& array);

// Gives a structure that was exported from `columns` an event for their unfinished work, where
// there is any.  The event lives until the structure is released.
arrow::Status AttachEvent(const std::vector<std::shared_ptr<arrow::ArrayData>>& columns,
                          ArrowDeviceArray* exported);

// Waits for the structure's event where libarrow reads data before it knows of the event, and
// counts the nulls of what is to be a batch, where they are unknown.
arrow::Status PrepareImport(bool is_batch, ArrowDeviceArray* array);

// Where the memory of a structure that is on a GPU lies.
arrow::Result<Home> HomeOf(const ArrowDeviceArray& array);

}  // namespace arrow_cuda
