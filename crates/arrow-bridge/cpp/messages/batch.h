// A record batch over a message whose body lies in device memory.
#pragma once

#include <cstdint>
#include <span>

#include "arrow/buffer.h"
#include "arrow/ipc/dictionary.h"
#include "border/names.h"

namespace arrow_cuda {

// libarrow needs aligned metadata, and Rust's bytes may be unaligned.
Result<BufferPtr> AlignedCopy(std::span<const uint8_t> metadata);

// Reads a batch from the metadata and body that Rust has found in a message.  A body that does not
// stay on the device is copied to the host, where libarrow decompresses it and counts its nulls, so
// that batch lies there.  Checks that each buffer is as long as its array's length demands; this
// compares sizes and reads no data.  Unlike libarrow's own, the batch reports where its data lies.
// `memo` may be null.
Result<BatchPtr> ReadBatch(const SchemaPtr& schema, const arrow::ipc::DictionaryMemo* memo,
                           std::span<const uint8_t> metadata, BufferPtr body, bool stays_on_device);

}  // namespace arrow_cuda
