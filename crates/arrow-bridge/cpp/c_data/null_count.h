// Null counts of arrays in any memory; libarrow would read the bitmaps on the host.
#pragma once

#include <cstdint>

#include "arrow/array/data.h"
#include "arrow/buffer.h"
#include "border/names.h"

namespace arrow_cuda {

// How many of the `length` bits from bit `offset` on are zero.  Waits for the bitmap.
Result<int64_t> CountZeros(const arrow::Buffer& bitmap, int64_t offset, int64_t length);

// Whether an array, or one within these, has a bitmap and a null count that is unknown.
bool HasUncountedNulls(const ArrayDataVector& arrays);

// Counts the unknown nulls, and stores the counts.
Status CountNulls(const ArrayDataVector& arrays);

}  // namespace arrow_cuda
