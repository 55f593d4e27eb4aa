// Readers of record batches whose batches are read ahead, many at a time.
#include "entries/entries.h"

#include <memory>
#include <utility>

#include "arrow/record_batch.h"
#include "border/status.h"
#include "copies/read_ahead.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

using arrow::Status;
using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;

// What is left of a reader: its schema, and what it says in place of batches.
class Rest : public arrow::RecordBatchReader {
 public:
  Rest(const arrow::RecordBatchReader& source, Status answer, ReaderPtr retained = nullptr)
      : schema_(source.schema()),
        device_type_(source.device_type()),
        answer_(std::move(answer)),
        retained_(std::move(retained)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::DeviceAllocationType device_type() const override { return device_type_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    batch->reset();
    return answer_;
  }

 private:
  const std::shared_ptr<arrow::Schema> schema_;
  const arrow::DeviceAllocationType device_type_;
  const Status answer_;
  const ReaderPtr retained_;
};

arrow::Result<std::shared_ptr<ReadAhead>> RequireReadAhead(PyObject* object) {
  auto ahead = std::dynamic_pointer_cast<ReadAhead>(UnwrapReader(object));
  if (ahead == nullptr) return Status::TypeError("expected a reader that reads ahead");
  return ahead;
}

}  // namespace

Failure ReadAheadEntry(PyObject* reader, int64_t most, PyObject* fresh) noexcept {
  return Guard([&]() -> Status {
    auto source = UnwrapReader(reader);
    if (source == nullptr) return Status::TypeError("expected an initialised RecordBatchReader");
    auto refusal = Status::Invalid(
        "copy_to() has taken the batches of this reader over: read those of its result");
    // pyarrow asks readers of IPC streams for their statistics by a pointer of its own.
    InitReader(reader, std::make_shared<Rest>(*source, std::move(refusal), source));
    InitReader(fresh, std::make_shared<ReadAhead>(std::move(source), most));
    return Status::OK();
  });
}

Failure RunAheadEntry(PyObject* reader) noexcept {
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const auto ahead, RequireReadAhead(reader));
    WithoutGil unlocked;
    ahead->Run();
    return Status::OK();
  });
}

Outcome<BatchesTaken> TakeBatchesEntry(PyObject* reader, int64_t nbytes, PyObject* fresh,
                                       PyObject** out, size_t capacity) noexcept {
  return GuardValue([&]() -> arrow::Result<BatchesTaken> {
    ARROW_ASSIGN_OR_RAISE(const auto ahead, RequireReadAhead(reader));
    auto group = Unlocked([&] { return ahead->Take(nbytes, capacity); });
    ARROW_RETURN_NOT_OK(WrapAll(group.batches, out));
    if (group.end.has_value()) {
      InitReader(fresh, std::make_shared<Rest>(*ahead, *std::move(group.end)));
    }
    return BatchesTaken{group.batches.size(), group.nbytes, group.end.has_value()};
  });
}

}  // namespace arrow_cuda
