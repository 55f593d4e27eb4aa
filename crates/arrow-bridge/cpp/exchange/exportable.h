// Arrays and batches as the C Device interface demands them: nulls counted, all memory in one place.
#pragma once

#include "arrow/array/array_base.h"
#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "border/names.h"
#include "exchange/empty_buffers.h"

namespace arrow_cuda {

bool IsExportable(const ArrayDataVector& columns);

// The same data, which libarrow can export; `data` itself if it can export that.
Result<ArrayPtr> Exportable(const ArrayPtr& data);
Result<BatchPtr> Exportable(const BatchPtr& data);

// The same data with all empty buffers at `location`; `data` itself if they are there.
Result<ArrayPtr> WithEmptyBuffersAt(const ArrayPtr& data, const Location& location);
Result<BatchPtr> WithEmptyBuffersAt(const BatchPtr& data, const Location& location);

}  // namespace arrow_cuda
