// Copies of arrays between the host and GPUs, with all of their buffers at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/device.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"
#include "border/ffi.h"
#include "copies/trim.h"

namespace arrow_cuda {

// What `CopyPrepared` copies of arrays to the memory of `to`: what they reach, with their nulls counted.
arrow::Result<Trimmed> Prepare(const arrow::ArrayDataVector& arrays,
                               const std::shared_ptr<arrow::MemoryManager>& to,
                               const RustStream* stream);

// As `Prepare`, and waits for what writes pinned memory.  Other memory than the host's stays as it is.
arrow::Result<Trimmed> PrepareOnHost(const arrow::ArrayDataVector& arrays,
                                     const std::shared_ptr<arrow::MemoryManager>& to);

// Copies in the memory of `to`, children and dictionaries included.  Memory that several arrays share is
// copied once.  No value if libarrow has to make the copy: no memory of a GPU takes part in it.
//
// On a stream, which may be null, copies are made as `CopyBuffers` says.
arrow::Result<std::optional<arrow::ArrayDataVector>> CopyPrepared(
    const Trimmed& prepared, const std::shared_ptr<arrow::MemoryManager>& to,
    const RustStream* stream);

// Arrays whose buffers are those that `make` returns for the distinct ones of `arrays`, in their order; no value if
// it has none.
using MakeBuffers = std::function<arrow::Result<std::optional<std::vector<std::shared_ptr<arrow::Buffer>>>>(
    const std::vector<const arrow::Buffer*>&)>;
arrow::Result<std::optional<arrow::ArrayDataVector>> WithBuffers(const arrow::ArrayDataVector& arrays,
                                                                 const MakeBuffers& make);

// `Prepare` and `CopyPrepared`.
arrow::Result<std::optional<arrow::ArrayDataVector>> CopyArrays(
    const arrow::ArrayDataVector& arrays, const std::shared_ptr<arrow::MemoryManager>& to,
    const RustStream* stream);

// A batch like `batch`, of the copies from `first` on.
std::shared_ptr<arrow::RecordBatch> BatchOfCopies(const arrow::RecordBatch& batch,
                                                  arrow::ArrayDataVector::const_iterator first);

// As `CopyPrepared`; if necessary, libarrow copies each array.
arrow::Result<arrow::ArrayDataVector> CopyAnyhow(const Trimmed& prepared,
                                                 const std::shared_ptr<arrow::MemoryManager>& to,
                                                 const RustStream* stream);

}  // namespace arrow_cuda
