// A record batch as the parts of one IPC message, without a copy of its data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrow/ipc/writer.h"
#include "arrow/record_batch.h"
#include "arrow/result.h"
#include "border/ffi.h"

namespace arrow_cuda {

class Payload {
 public:
  explicit Payload(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}

  // Lays the message out as libarrow writes it.  Reads offsets and bitmaps, so all of the batch has
  // to lie on the host.  The parts are valid as long as this object, and until it is asked again.
  arrow::Result<std::span<const HostPart>> Parts();

 private:
  const std::shared_ptr<arrow::RecordBatch> batch_;
  arrow::ipc::IpcPayload message_;
  // What is no buffer's: prefix, metadata and padding, one behind the other.
  std::vector<uint8_t> framing_;
  std::vector<HostPart> parts_;
};

}  // namespace arrow_cuda
