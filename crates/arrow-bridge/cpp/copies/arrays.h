// Copies of arrays between the host and GPUs, with all of their buffers at once.
#pragma once

#include <optional>

#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "border/ffi.h"
#include "border/names.h"
#include "copies/trim.h"

namespace arrow_cuda {

// What `CopyPrepared` copies of arrays to the memory of `to`: what they reach, with their nulls counted.
Result<Trimmed> Prepare(const ArrayDataVector& arrays, const ManagerPtr& to,
                        const RustStream* stream);

// As `Prepare`, and waits for what writes pinned memory.  Other memory than the host's stays as it is.
Result<Trimmed> PrepareOnHost(const ArrayDataVector& arrays, const ManagerPtr& to);

// Copies in the memory of `to`, children and dictionaries included.  Memory that several arrays share is
// copied once.  No value if libarrow has to make the copy: no memory of a GPU takes part in it.
//
// On a stream, which may be null, copies are made as `CopyBuffers` says.
Result<std::optional<ArrayDataVector>> CopyPrepared(const Trimmed& prepared, const ManagerPtr& to,
                                                    const RustStream* stream);

// A batch like `batch`, of the copies from `first` on.
BatchPtr BatchOfCopies(const arrow::RecordBatch& batch, ArrayDataVector::const_iterator first);

// As `CopyPrepared`; if necessary, libarrow copies each array.
Result<ArrayDataVector> CopyAnyhow(const Trimmed& prepared, const ManagerPtr& to,
                                   const RustStream* stream);

}  // namespace arrow_cuda
