#include "messages/payload.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "arrow/buffer.h"
#include "arrow/io/interfaces.h"
#include "arrow/ipc/options.h"
#include "arrow/type_traits.h"
#include "copies/trim.h"
#include "messages/check.h"
#include "messages/offsets.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

// How many bytes of its parent a slice has from its beginning on.
uint64_t RoomFor(const arrow::Buffer& slice) {
  const auto& whole = *slice.parent();
  const uint64_t offset = slice.address() - whole.address();
  const auto capacity = static_cast<uint64_t>(whole.capacity());
  return offset <= capacity ? capacity - offset : 0;
}

// Whether a buffer has the type ids of an array or of one within it, or their offsets.
bool IsOfUnion(const ArrayData& data, const arrow::Buffer* buffer) {
  const auto is_it = [&](const auto& own) { return own.get() == buffer; };
  if (arrow::is_union(StorageOf(*data.type).id()) && std::ranges::any_of(data.buffers, is_it)) {
    return true;
  }
  const auto has_it = [&](const auto& child) { return IsOfUnion(*child, buffer); };
  return std::ranges::any_of(data.child_data, has_it);
}

// A slice, and zeros after the end of its parent.
Result<BufferPtr> Padded(const arrow::Buffer& slice) {
  ARROW_ASSIGN_OR_RAISE(BufferPtr padded, arrow::AllocateBuffer(slice.size()));
  const auto present = std::min(RoomFor(slice), static_cast<uint64_t>(slice.size()));
  std::memset(padded->mutable_data(), 0, static_cast<size_t>(slice.size()));
  std::memcpy(padded->mutable_data(), slice.data(), present);
  return padded;
}

// libarrow rounds the length of a sliced union's type ids up to 64 bytes, also where their buffer ends
// before.
bool ReachesBeyondUnion(const arrow::RecordBatch& batch, const arrow::Buffer& buffer) {
  const auto whole = buffer.parent();
  if (whole == nullptr || !whole->is_cpu() || buffer.size() <= 0) return false;
  if (static_cast<uint64_t>(buffer.size()) <= RoomFor(buffer)) return false;
  const auto has_it = [&](const auto& column) { return IsOfUnion(*column, whole.get()); };
  return std::ranges::any_of(batch.column_data(), has_it);
}

// libarrow slices strings by the offsets in the data, without a check.
Status CheckPart(const arrow::Buffer& buffer) {
  if (buffer.size() == 0) return Status::OK();
  if (!buffer.is_cpu()) return Status::Invalid("a buffer of the batch lies on a device");
  const auto whole = buffer.parent();
  const bool is_cut = whole != nullptr && whole->is_cpu();
  const auto size = static_cast<uint64_t>(buffer.size());
  if (buffer.size() < 0 || (is_cut && size > RoomFor(buffer))) return OffsetsLeadOutside();
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
  ARROW_ASSIGN_OR_RAISE(const auto batch, TrimForMessage(batch_));
  ARROW_RETURN_NOT_OK(arrow::ipc::GetRecordBatchPayload(*batch, options, &message_));
  for (auto& buffer : message_.body_buffers) {
    if (buffer == nullptr) continue;
    if (ReachesBeyondUnion(*batch, *buffer)) {
      ARROW_ASSIGN_OR_RAISE(buffer, Padded(*buffer));
    }
    ARROW_RETURN_NOT_OK(CheckPart(*buffer));
  }
  Recorder recorder(&framing_, &ranges_);
  int32_t metadata_length = 0;
  ARROW_RETURN_NOT_OK(
      arrow::ipc::WriteIpcPayload(message_, options, &recorder, &metadata_length));
  recorder.Finish();
  return ranges_;
}

}  // namespace arrow_cuda
