// Streams of the C Device interface, to other libraries and from them.  A stream has one device: data on
// another one is an error.
#pragma once

#include "arrow/c/abi.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "border/names.h"

namespace arrow_cuda {

// Exports batches or chunks, on the device of the first data that has values.  The export reads up to that
// data.  Data without values goes to that device.  The consumer may call the stream from any thread, with
// or without the GIL.
Status ExportStream(ReaderPtr reader, ArrowDeviceArrayStream* out);
Status ExportStream(ChunkedPtr array, ArrowDeviceArrayStream* out);

// Each takes the stream over, also on failure.
Result<ReaderPtr> ImportBatches(ArrowDeviceArrayStream* stream);
Result<ChunkedPtr> ImportChunks(ArrowDeviceArrayStream* stream);

}  // namespace arrow_cuda
