#include "messages/stored.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/message.h"
#include "arrow/ipc/options.h"
#include "arrow/ipc/reader.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/rust.h"
#include "copies/arrays.h"
#include "copies/buffers.h"
#include "copies/distinct_buffers.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// Manages addresses of no memory: whoever reads there is refused, but slices are made.
class NoMemory : public arrow::MemoryManager {
 public:
  explicit NoMemory(const std::shared_ptr<arrow::Device>& device) : arrow::MemoryManager(device) {}

  Result<FilePtr> GetBufferReader(BufferPtr body) override {
    return std::make_shared<arrow::io::BufferReader>(std::move(body));
  }

  Result<OutputPtr> GetBufferWriter(BufferPtr) override {
    return Status::NotImplemented("a body that is not read yet cannot be written to");
  }

  Result<std::unique_ptr<arrow::Buffer>> AllocateBuffer(int64_t) override {
    return Status::NotImplemented("a body that is not read yet cannot be copied");
  }
};

class StoredReader : public arrow::ipc::MessageReader {
 public:
  StoredReader(const RustStored* stored, const std::shared_ptr<arrow::Device>& device)
      : stored_(stored), manager_(std::make_shared<NoMemory>(device)) {}

  Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override {
    const auto message = Rust().stored_message(stored_, next_++);
    const auto [data, size] = message.metadata;
    if (data == nullptr) return nullptr;
    // libarrow wants aligned metadata.
    ARROW_ASSIGN_OR_RAISE(auto metadata, arrow::AllocateBuffer(static_cast<int64_t>(size)));
    std::copy_n(data, size, metadata->mutable_data());
    return arrow::ipc::Message::Open(
        std::move(metadata),
        std::make_shared<arrow::Buffer>(message.address, message.body_size, manager_, nullptr));
  }

 private:
  const RustStored* const stored_;
  const ManagerPtr manager_;
  size_t next_ = 0;
};

// The numbers of the fields with these names.
Result<std::vector<int>> FieldsOf(const arrow::Schema& schema,
                                         const std::vector<std::string>& names) {
  std::vector<int> fields;
  for (const auto& name : names) {
    const auto found = schema.GetAllFieldIndices(name);
    if (found.empty()) {
      return Status::Invalid("the file has no column '", name,
                                    "': it has ", schema.ToString());
    }
    fields.insert(fields.end(), found.begin(), found.end());
  }
  return fields;
}

}  // namespace

Result<TablePtr> TableOfStored(const RustStored* stored, const ManagerPtr& to,
                               const std::vector<std::string>& names) {
  const auto open = [&](const arrow::ipc::IpcReadOptions& options) {
    return arrow::ipc::RecordBatchStreamReader::Open(
        std::make_unique<StoredReader>(stored, to->device()), options);
  };
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(auto reader, open(options));
  if (!names.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.included_fields, FieldsOf(*reader->schema(), names));
    ARROW_ASSIGN_OR_RAISE(reader, open(options));
  }
  ARROW_ASSIGN_OR_RAISE(auto batches, reader->ToRecordBatches());
  arrow::ArrayDataVector columns;
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(CheckBatch(*batch));
    const auto& data = batch->column_data();
    columns.insert(columns.end(), data.begin(), data.end());
  }
  const DistinctBuffers distinct(columns);
  TablePtr table;
  const auto assemble = [&](std::vector<BufferPtr> buffers) {
    const auto copies = distinct.Replaced(columns, std::move(buffers));
    auto next = copies.begin();
    for (auto& batch : batches) {
      batch = BatchOfCopies(*batch, next);
      next += batch->num_columns();
    }
    return arrow::Table::FromRecordBatches(reader->schema(), batches).Value(&table);
  };
  ARROW_RETURN_NOT_OK(CopyStoredBuffers(distinct.buffers(), to, stored, assemble));
  return table;
}

}  // namespace arrow_cuda
