#include "messages/tables.h"

#include <cstddef>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/message.h"
#include "arrow/ipc/reader.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/rust.h"
#include "copies/arrays.h"
#include "copies/buffers.h"
#include "copies/distinct_buffers.h"
#include "messages/batch.h"
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

class IndexedMessageReader : public arrow::ipc::MessageReader {
 public:
  IndexedMessageReader(const RustBodyReader* bodies, const std::shared_ptr<arrow::Device>& device)
      : bodies_(bodies), manager_(std::make_shared<NoMemory>(device)) {}

  Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override {
    const auto message = Rust().indexed_message(bodies_, next_++);
    const auto [data, size] = message.metadata;
    if (data == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto metadata, AlignedCopy({data, size}));
    return arrow::ipc::Message::Open(
        std::move(metadata),
        std::make_shared<arrow::Buffer>(message.address, message.body_size, manager_, nullptr));
  }

 private:
  const RustBodyReader* const bodies_;
  const ManagerPtr manager_;
  size_t next_ = 0;
};

// The columns with these names become those of the batches and of their schema.
Status SelectColumns(const std::vector<std::string>& names, SchemaPtr& schema,
                     arrow::RecordBatchVector& batches) {
  std::vector<int> numbers;
  arrow::FieldVector fields;
  for (const auto& name : names) {
    const auto found = schema->GetAllFieldIndices(name);
    if (found.size() != 1) {
      return Status::KeyError("the file has ", found.empty() ? "no column" : "several columns",
                              " '", name, "': name one of those that it has:\n",
                              schema->ToString());
    }
    numbers.push_back(found[0]);
    fields.push_back(schema->field(found[0]));
  }
  schema = arrow::schema(std::move(fields), schema->metadata());
  for (auto& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(batch, batch->SelectColumns(numbers));
  }
  return Status::OK();
}

}  // namespace

Result<TablePtr> TableFrom(const RustBodyReader* bodies, const ManagerPtr& to,
                           const std::optional<std::vector<std::string>>& names) {
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(
                            std::make_unique<IndexedMessageReader>(bodies, to->device())));
  ARROW_ASSIGN_OR_RAISE(auto batches, reader->ToRecordBatches());
  auto schema = reader->schema();
  if (names) ARROW_RETURN_NOT_OK(SelectColumns(*names, schema, batches));
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
    return arrow::Table::FromRecordBatches(schema, batches).Value(&table);
  };
  ARROW_RETURN_NOT_OK(CopyBodyBuffers(distinct.buffers(), to, bodies, assemble));
  return table;
}

}  // namespace arrow_cuda
