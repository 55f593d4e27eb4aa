// Arrays put together without libarrow's validation, which refuses those over empty device memory:
// its address is 0.
#pragma once

#include <cstddef>

#include "arrow/result.h"
#include "border/ffi.h"

namespace arrow_cuda {

// A RecordBatch of arrays, or a Table of chunked arrays: a new reference.  Refuses columns that
// the schema does not have, and those of different lengths.
arrow::Result<PyObject*> Assemble(PyObject* schema, PyObject* const* columns, size_t count);

}  // namespace arrow_cuda
