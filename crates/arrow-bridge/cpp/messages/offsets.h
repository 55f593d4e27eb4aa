// Whether the offsets of an array's lists and unions lie within what they point into.
//
// libarrow cuts the children by them when it writes a message, and ends the process where that
// cannot be done; but what it validates of new arrays are the ends of the whole alone.
#pragma once

#include "arrow/array/data.h"
#include "arrow/status.h"

namespace arrow_cuda {

// What offsets are read for is part of the array; they have to be on the host.  Only views and
// unions take time that grows with the length.
arrow::Status CheckOffsets(const arrow::ArrayData& data);

// What a message says whose columns' offsets lead outside.
arrow::Status OffsetsLeadOutside();

}  // namespace arrow_cuda
