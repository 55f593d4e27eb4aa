// Streams of record batches: the C Device interface, and readers that read ahead.
#include "entries/entries.h"

#include <utility>

#include "arrow/c/abi.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/status.h"
#include "copies/read_ahead.h"
#include "entries/require.h"
#include "c_data/streams.h"
#include "memory/on_device.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

// The rest of a reader whose batches another one has taken over, and which it retains.
class Taken : public arrow::RecordBatchReader {
 public:
  explicit Taken(ReaderPtr reader) : reader_(std::move(reader)) {}

  SchemaPtr schema() const override { return reader_->schema(); }

  arrow::DeviceAllocationType device_type() const override { return reader_->device_type(); }

  Status ReadNext(BatchPtr*) override {
    return Status::Invalid(
        "copy_to() has taken the batches of this reader over: read those of its result");
  }

 private:
  const ReaderPtr reader_;
};

Result<std::shared_ptr<ReadAhead>> RequireReadAhead(PyObject* object) {
  auto ahead = std::dynamic_pointer_cast<ReadAhead>(UnwrapReader(object));
  if (ahead == nullptr) return Status::TypeError("expected a reader that reads ahead");
  return ahead;
}

}  // namespace

// Rust allocates structures of this size.
static_assert(sizeof(ArrowDeviceArrayStream) == 48);

Failure ExportStreamEntry(PyObject* object, bool is_reader, void* exported) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return Guard([&]() -> Status {
    const auto table = Unwrap<arrow::Table>(object);
    const auto chunks = Unwrap<arrow::ChunkedArray>(object);
    auto reader = is_reader ? UnwrapReader(object) : nullptr;
    if (table == nullptr && chunks == nullptr && reader == nullptr) {
      return Status::TypeError("expected an initialised Table, ChunkedArray or reader");
    }
    // Reading from a reader may take long, and may run Python code, for which it takes the GIL.
    WithoutGil unlocked;
    if (chunks != nullptr) return ExportStream(chunks, stream);
    if (table != nullptr) reader = std::make_shared<arrow::TableBatchReader>(table);
    return ExportStream(std::move(reader), stream);
  });
}

Failure ImportStreamEntry(PyObject* fresh, void* exported) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto reader, Unlocked([&] { return ImportBatches(stream); }));
    InitReader(fresh, std::move(reader));
    return Status::OK();
  });
}

Outcome<PyObject*> ImportChunksEntry(void* exported) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return GuardValue([&]() -> Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(const auto array, Unlocked([&] { return ImportChunks(stream); }));
    return Wrap(array);
  });
}

Failure ReadAheadEntry(PyObject* reader, int64_t most, const Destination* destination,
                       bool has_stream, PyObject* fresh) noexcept {
  return Guard([&]() -> Status {
    auto source = UnwrapReader(reader);
    if (source == nullptr) return Status::TypeError("expected an initialised RecordBatchReader");
    ARROW_ASSIGN_OR_RAISE(auto to, ManagerOf(destination));
    // pyarrow asks readers of IPC streams for their statistics by a pointer of its own.
    InitReader(reader, std::make_shared<Taken>(source));
    InitReader(fresh, std::make_shared<ReadAhead>(std::move(source), most, std::move(to), has_stream));
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

Outcome<BatchesTaken> TakeBatchesEntry(PyObject* reader, bool were_copied) noexcept {
  return GuardValue([&]() -> Result<BatchesTaken> {
    ARROW_ASSIGN_OR_RAISE(const auto ahead, RequireReadAhead(reader));
    WithoutGil unlocked;
    const auto& group = ahead->Take(were_copied);
    const Contexts contexts = group.columns.is_ready ? Contexts{-1, false} : ContextsOf(group.columns.arrays);
    return BatchesTaken{group.batches.size(), group.rows, contexts, group.is_last};
  });
}

Outcome<int64_t> CopyBatchesEntry(PyObject* reader, const RustStream* stream,
                                  PyObject** out) noexcept {
  return GuardValue([&]() -> Result<int64_t> {
    ARROW_ASSIGN_OR_RAISE(const auto ahead, RequireReadAhead(reader));
    int64_t nbytes = 0;
    ARROW_ASSIGN_OR_RAISE(const auto copies, Unlocked([&] { return ahead->Copy(stream, &nbytes); }));
    ARROW_RETURN_NOT_OK(WrapAll(copies, out));
    return nbytes;
  });
}

}  // namespace arrow_cuda
