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

}  // namespace arrow_cuda
