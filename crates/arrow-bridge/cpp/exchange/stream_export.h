// Batches and chunks as streams of the C Device interface.
#pragma once

#include "arrow/c/abi.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "border/names.h"

namespace arrow_cuda {

// Exports batches or chunks as a stream, on the device of the first data that has values.  The export reads
// up to that data.  Data without values goes to that device; values on another one are an error
// of the stream.  The consumer may call the stream from any thread, with or without the GIL.
Status ExportStream(ReaderPtr reader, ArrowDeviceArrayStream* out);
Status ExportStream(ChunkedPtr array, ArrowDeviceArrayStream* out);

}  // namespace arrow_cuda
