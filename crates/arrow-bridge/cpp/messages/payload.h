// A record batch as the ranges of one IPC message, without a copy of its data.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arrow/ipc/writer.h"
#include "arrow/record_batch.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

struct Payload {
  explicit Payload(BatchPtr batch) : batch_(std::move(batch)) {}

  // Lays the message out as libarrow writes it.  This reads offsets and bitmaps, so the whole batch
  // must lie on the host.  The ranges are valid until the next call, at most as long as this
  // object.
  Result<std::span<const HostRange>> Ranges();

 private:
  const BatchPtr batch_;
  arrow::ipc::IpcPayload message_;
  // Bytes outside any buffer: prefix, metadata and padding, one after the other.
  std::vector<uint8_t> framing_;
  std::vector<HostRange> ranges_;
};

}  // namespace arrow_cuda
