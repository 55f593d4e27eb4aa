// A record batch over a message whose body lies in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "arrow/buffer.h"
#include "arrow/ipc/dictionary.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"

namespace arrow_cuda {

// libarrow wants metadata aligned, which Rust's bytes need not be.
arrow::Result<std::shared_ptr<arrow::Buffer>> AlignedCopy(std::span<const uint8_t> metadata);

// Takes the metadata and body that Rust has found in a message.  A body that `is_compressed` is
// brought to the host, where libarrow decompresses it, and so the batch lies there.  Each buffer
// was found as long as its array's length demands; sizes alone are judged, no data is read.  The
// batch says where its data lies, which libarrow's own does not.  `memo` may be null.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::ipc::DictionaryMemo* memo,
    std::span<const uint8_t> metadata, std::shared_ptr<arrow::Buffer> body, bool is_compressed);

}  // namespace arrow_cuda
