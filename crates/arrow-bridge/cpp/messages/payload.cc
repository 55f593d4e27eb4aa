#include "messages/payload.h"

#include <cstddef>

#include "arrow/buffer.h"
#include "arrow/io/interfaces.h"
#include "arrow/ipc/options.h"
#include "messages/check.h"
#include "messages/offsets.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

bool IsWithin(const arrow::Buffer& buffer, const arrow::Buffer& whole) {
  const uint64_t offset = buffer.address() - whole.address();
  const auto capacity = static_cast<uint64_t>(whole.capacity());
  return offset <= capacity && static_cast<uint64_t>(buffer.size()) <= capacity - offset;
}

// libarrow slices strings by the offsets in the data, without a check.
Status CheckPart(const arrow::Buffer& buffer) {
  if (buffer.size() == 0) return Status::OK();
  if (!buffer.is_cpu()) return Status::Invalid("a buffer of the batch lies on a device");
  const auto whole = buffer.parent();
  const bool is_cut = whole != nullptr && whole->is_cpu();
  if (buffer.size() < 0 || (is_cut && !IsWithin(buffer, *whole))) return OffsetsLeadOutside();
  return CheckSpan(buffer);
}

// Records the ranges that are written to it instead of copying them.  Only bytes outside any buffer
// are copied, into `framing`; their ranges get an address once everything is written.
class Recorder : public arrow::io::OutputStream {
 public:
  Recorder(std::vector<uint8_t>* framing, std::vector<HostRange>* ranges)
      : framing_(framing), ranges_(ranges) {}

  Status Write(const void* data, int64_t size) override {
    if (size <= 0) return Status::OK();
    const auto* bytes = static_cast<const uint8_t*>(data);
    framing_->insert(framing_->end(), bytes, bytes + size);
    if (ranges_->empty() || ranges_->back().data != nullptr) ranges_->push_back({nullptr, 0});
    ranges_->back().size += static_cast<size_t>(size);
    position_ += size;
    return Status::OK();
  }

  // The payload owns the buffer.
  Status Write(const BufferPtr& buffer) override {
    if (buffer->size() <= 0) return Status::OK();
    ranges_->push_back({buffer->data(), static_cast<size_t>(buffer->size())});
    position_ += buffer->size();
    return Status::OK();
  }

  void Finish() {
    const uint8_t* next = framing_->data();
    for (auto& range : *ranges_) {
      if (range.data != nullptr) continue;
      range.data = next;
      next += range.size;
    }
  }

  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }
  Result<int64_t> Tell() const override { return position_; }

 private:
  std::vector<uint8_t>* const framing_;
  std::vector<HostRange>* const ranges_;
  int64_t position_ = 0;
};

}  // namespace

Result<std::span<const HostRange>> Payload::Ranges() {
  const auto options = arrow::ipc::IpcWriteOptions::Defaults();
  message_ = {};
  framing_.clear();
  ranges_.clear();
  ARROW_RETURN_NOT_OK(CheckBatch(*batch_));
  for (const auto& column : batch_->column_data()) ARROW_RETURN_NOT_OK(CheckOffsets(*column));
  ARROW_RETURN_NOT_OK(arrow::ipc::GetRecordBatchPayload(*batch_, options, &message_));
  for (const auto& buffer : message_.body_buffers) {
    if (buffer != nullptr) ARROW_RETURN_NOT_OK(CheckPart(*buffer));
  }
  Recorder recorder(&framing_, &ranges_);
  int32_t metadata_length = 0;
  ARROW_RETURN_NOT_OK(
      arrow::ipc::WriteIpcPayload(message_, options, &recorder, &metadata_length));
  recorder.Finish();
  return ranges_;
}

}  // namespace arrow_cuda
