// Streams of the C Device interface that other libraries export.
#pragma once

#include "arrow/c/abi.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "border/names.h"

namespace arrow_cuda {

// Each takes the stream over, also on failure.  A stream has one device: another one's data is an
// error.

Result<ReaderPtr> ImportBatches(ArrowDeviceArrayStream* stream);

Result<ChunkedPtr> ImportChunks(ArrowDeviceArrayStream* stream);

}  // namespace arrow_cuda
