// Whether the offsets of an array's lists and unions lie within their children.
//
// libarrow slices the children by these offsets when it writes a message, and aborts the process if
// that fails; but for new arrays it validates only the first and last offset.
#pragma once

#include "arrow/array/data.h"
#include "border/names.h"

namespace arrow_cuda {

// Checks the offsets of one array, which must be on the host.  Only for views and unions does the
// time grow with the length.
Status CheckOffsets(const ArrayData& data);

// The error for a column whose offsets lead outside its data.
Status OffsetsLeadOutside();

}  // namespace arrow_cuda
