// Assembles arrays without libarrow's validation, which refuses empty device memory, whose address
// is 0.
#pragma once

#include <cstddef>

#include "arrow/result.h"
#include "border/ffi.h"

namespace arrow_cuda {

// A new reference to a RecordBatch of arrays, or a Table of chunked arrays.  Refuses columns that
// do not match the schema, and columns of different lengths.
arrow::Result<PyObject*> Assemble(PyObject* schema, PyObject* const* columns, size_t count);

}  // namespace arrow_cuda
