#include "messages/batch.h"

#include <utility>

#include "arrow/io/interfaces.h"
#include "arrow/ipc/message.h"
#include "arrow/ipc/options.h"
#include "arrow/ipc/reader.h"
#include "memory/on_device.h"
#include "memory/reader.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// A slice of device memory that needs no call into Rust: a batch has hundreds of them.
class BodySlice : public arrow::Buffer {
 public:
  BodySlice(const BufferPtr& whole, int64_t offset, int64_t size)
      : arrow::Buffer(static_cast<uintptr_t>(whole->address() + static_cast<uint64_t>(offset)),
                      size, whole->memory_manager(), whole) {
    is_mutable_ = whole->is_mutable();
  }
};

// A message's body as the file from which libarrow reads the batch's buffers.
class Body : public arrow::io::RandomAccessFile {
 public:
  explicit Body(BufferPtr whole) : whole_(std::move(whole)) {}

  using arrow::io::RandomAccessFile::ReadAt;
  Result<BufferPtr> ReadAt(int64_t position, int64_t size) override {
    ARROW_RETURN_NOT_OK(CheckWithinBody(position, size, whole_->size()));
    return std::make_shared<BodySlice>(whole_, position, size);
  }

  // libarrow must not access any of it.
  Result<int64_t> ReadAt(int64_t, int64_t, void*) override { return OnDevice(); }
  Result<int64_t> Read(int64_t, void*) override { return OnDevice(); }
  Result<BufferPtr> Read(int64_t) override { return OnDevice(); }

  Result<int64_t> GetSize() override { return whole_->size(); }
  bool supports_zero_copy() const override { return true; }
  Status Seek(int64_t) override { return Status::OK(); }
  Result<int64_t> Tell() const override { return 0; }
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }

 private:
  static Status OnDevice() { return Status::NotImplemented("the body lies in device memory"); }

  const BufferPtr whole_;
};

Result<BatchPtr> Load(const SchemaPtr& schema, const arrow::ipc::DictionaryMemo& memo,
                      const BufferPtr& metadata, const BufferPtr& body) {
  const auto options = arrow::ipc::IpcReadOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(const auto message, arrow::ipc::Message::Open(metadata, body));
  // libarrow has the best error for a message of another kind.
  if (body->is_cpu() || message->type() != arrow::ipc::MessageType::RECORD_BATCH) {
    return arrow::ipc::ReadRecordBatch(*message, schema, &memo, options);
  }
  Body file(body);
  return arrow::ipc::ReadRecordBatch(*metadata, schema, &memo, options, &file);
}

}  // namespace

Result<BufferPtr> AlignedCopy(std::span<const uint8_t> metadata) {
  const auto size = static_cast<int64_t>(metadata.size());
  return arrow::Buffer(metadata.data(), size).CopySlice(0, size);
}

Result<BatchPtr> ReadBatch(const SchemaPtr& schema, const arrow::ipc::DictionaryMemo* memo,
                           std::span<const uint8_t> metadata, BufferPtr body, bool stays_on_device) {
  // An empty body has no address on the device.
  if (!stays_on_device || body->size() == 0) {
    ARROW_ASSIGN_OR_RAISE(body,
                          arrow::Buffer::Copy(body, arrow::default_cpu_memory_manager()));
  }
  ARROW_ASSIGN_OR_RAISE(const auto aligned, AlignedCopy(metadata));
  const arrow::ipc::DictionaryMemo nothing;
  const auto loaded = Load(schema, memo == nullptr ? nothing : *memo, aligned, body);
  if (loaded.status().IsKeyError()) {
    return loaded.status().WithMessage(
        loaded.status().message(), ": dictionaries travel in messages of their own, so the batch "
        "needs the DictionaryMemo that these were read with; a stream has all of it");
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, loaded);
  ARROW_RETURN_NOT_OK(CheckBatch(*batch));
  if (!IsOnDevice(*batch)) return batch;
  return arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), batch->column_data(),
                                  arrow::DeviceAllocationType::kCUDA);
}

}  // namespace arrow_cuda
