// Streams of the C Device interface.
#include "entries/entries.h"

#include <memory>
#include <utility>

#include "arrow/c/abi.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/status.h"
#include "exchange/stream_export.h"
#include "exchange/stream_import.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

// Rust allocates structures of this size.
static_assert(sizeof(ArrowDeviceArrayStream) == 48);

bool ExportStreamEntry(PyObject* object, bool is_reader, void* exported,
                       Failure* failure) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return Guard(failure, [&]() -> arrow::Status {
    const auto table = UnwrapTable(object);
    const auto chunks = UnwrapChunkedArray(object);
    auto reader = is_reader ? UnwrapReader(object) : nullptr;
    if (table == nullptr && chunks == nullptr && reader == nullptr) {
      return arrow::Status::TypeError("expected an initialised Table, ChunkedArray or reader");
    }
    // Reading from a reader may take long, and may run Python code, for which it takes the GIL.
    WithoutGil unlocked;
    if (chunks != nullptr) return ExportStream(chunks, stream);
    if (table != nullptr) reader = std::make_shared<arrow::TableBatchReader>(table);
    return ExportStream(std::move(reader), stream);
  });
}

bool ImportStreamEntry(PyObject* fresh, void* exported, Failure* failure) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return Guard(failure, [&]() -> arrow::Status {
    std::shared_ptr<arrow::RecordBatchReader> reader;
    {
      WithoutGil unlocked;
      ARROW_ASSIGN_OR_RAISE(reader, ImportBatches(stream));
    }
    InitReader(fresh, std::move(reader));
    return arrow::Status::OK();
  });
}

PyObject* ImportChunksEntry(void* exported, Failure* failure) noexcept {
  auto* stream = static_cast<ArrowDeviceArrayStream*>(exported);
  return GuardObject(failure, [&]() -> arrow::Result<PyObject*> {
    std::shared_ptr<arrow::ChunkedArray> array;
    {
      WithoutGil unlocked;
      ARROW_ASSIGN_OR_RAISE(array, ImportChunks(stream));
    }
    return WrapChunkedArray(array);
  });
}

}  // namespace arrow_cuda
