// Objects that are made of arrays: looked into, and put together, without libarrow's validation.
//
// libarrow refuses arrays over empty device memory, whose address is 0, and takes whatever its
// first buffer says for where all of an array lies.
#pragma once

#include <cstddef>

#include "arrow/result.h"
#include "bridge.h"

namespace arrow_cuda {

// Whether a pyarrow Array, ChunkedArray, RecordBatch or Table was ever initialised.
bool HasArrays(PyObject* object);

// Whether any buffer of such an object lies on a device.
bool IsAnyOnDevice(PyObject* object);

// A RecordBatch of arrays, or a Table of chunked arrays: a new reference.  Refuses columns that
// the schema does not have, and those of different lengths.
arrow::Result<PyObject*> Assemble(PyObject* schema, PyObject* const* columns, size_t count);

}  // namespace arrow_cuda
