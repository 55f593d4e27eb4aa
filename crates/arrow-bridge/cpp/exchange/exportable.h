// Arrays and batches as the C Device interface demands them: nulls counted, all memory in one place.
#pragma once

#include <memory>

#include "arrow/array/array_base.h"
#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"
#include "exchange/empty_buffers.h"

namespace arrow_cuda {

// Whether libarrow can export the columns as they are.
bool IsExportable(const arrow::ArrayDataVector& columns);

// The same data, which libarrow can export; `data` itself if it can export that.
arrow::Result<std::shared_ptr<arrow::Array>> Exportable(const std::shared_ptr<arrow::Array>& data);
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Exportable(
    const std::shared_ptr<arrow::RecordBatch>& data);

// The same data with all empty buffers at `location`; `data` itself if they are there.
arrow::Result<std::shared_ptr<arrow::Array>> WithEmptyBuffersAt(const std::shared_ptr<arrow::Array>& data,
                                                    const Location& location);
arrow::Result<std::shared_ptr<arrow::RecordBatch>> WithEmptyBuffersAt(
    const std::shared_ptr<arrow::RecordBatch>& data, const Location& location);

}  // namespace arrow_cuda
