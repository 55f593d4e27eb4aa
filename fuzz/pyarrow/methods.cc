// The calls that pyarrow's methods make to libarrow between those of the bridge: the functions that
// the fuzz targets find in this library, by their C names.  As in Python, an exception of
// libarrow's ends the process.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "arrow/array/array_base.h"
#include "arrow/array/util.h"
#include "arrow/buffer.h"
#include "arrow/c/bridge.h"
#include "arrow/device.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/dictionary.h"
#include "arrow/ipc/message.h"
#include "arrow/ipc/reader.h"
#include "arrow/memory_pool.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "objects.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using arrow::Status;
using fuzz::PyObject;
using Batch = std::shared_ptr<arrow::RecordBatch>;

// libarrow's error is not needed: what is refused is released, and that is all that counts.
template <typename T>
PyObject* WrapIfOk(const arrow::Result<std::shared_ptr<T>>& result) {
  return result.ok() ? fuzz::Wrap(*result) : nullptr;
}

}  // namespace

EXPORT arrow_cuda::PyarrowApi fuzz_table() noexcept { return fuzz::Table(); }
EXPORT PyObject* fuzz_new_buffer() noexcept { return fuzz::NewBuffer(); }
EXPORT PyObject* fuzz_new_file() noexcept { return fuzz::NewFile(); }
EXPORT void fuzz_decref(PyObject* object) noexcept { fuzz::DecRef(object); }

EXPORT int64_t fuzz_bytes_allocated() noexcept {
  return arrow::default_memory_pool()->bytes_allocated();
}

EXPORT PyObject* fuzz_host() noexcept {
  return fuzz::Wrap<arrow::MemoryManager>(arrow::default_cpu_memory_manager());
}

// --- the C Device interface ------------------------------------------------------------------

EXPORT PyObject* fuzz_import_type(ArrowSchema* schema, bool is_batch) noexcept {
  return is_batch ? WrapIfOk(arrow::ImportSchema(schema)) : WrapIfOk(arrow::ImportType(schema));
}

EXPORT PyObject* fuzz_import(ArrowDeviceArray* array, ArrowSchema* schema, PyObject* type,
                             bool is_batch) noexcept {
  if (!is_batch) {
    const auto known = fuzz::Unwrap<arrow::DataType>(type);
    return WrapIfOk(known == nullptr ? arrow::ImportDeviceArray(array, schema)
                                     : arrow::ImportDeviceArray(array, known));
  }
  const auto known = fuzz::Unwrap<arrow::Schema>(type);
  return WrapIfOk(known == nullptr ? arrow::ImportDeviceRecordBatch(array, schema)
                                   : arrow::ImportDeviceRecordBatch(array, known));
}

EXPORT bool fuzz_export(PyObject* object, ArrowDeviceArray* array, ArrowSchema* schema) noexcept {
  if (const auto batch = fuzz::Unwrap<arrow::RecordBatch>(object)) {
    return arrow::ExportDeviceRecordBatch(*batch, batch->GetSyncEvent(), array, schema).ok();
  }
  return arrow::ExportDeviceArray(*fuzz::Unwrap<arrow::Array>(object), nullptr, array, schema)
      .ok();
}

EXPORT bool fuzz_is_valid(PyObject* object, bool full) noexcept {
  const auto batch = fuzz::Unwrap<arrow::RecordBatch>(object);
  if (batch != nullptr) return (full ? batch->ValidateFull() : batch->Validate()).ok();
  const auto array = fuzz::Unwrap<arrow::Array>(object);
  return (full ? array->ValidateFull() : array->Validate()).ok();
}

// --- messages --------------------------------------------------------------------------------

// The schema that `data` begins with, and how many bytes it takes.
EXPORT PyObject* fuzz_schema(const uint8_t* data, int64_t size, int64_t* taken) noexcept {
  arrow::io::BufferReader file(std::make_shared<arrow::Buffer>(data, size));
  arrow::ipc::DictionaryMemo memo;
  const auto schema = arrow::ipc::ReadSchema(&file, &memo);
  *taken = file.Tell().ValueOr(0);
  return WrapIfOk(schema);
}

// The batch of the message that the file is at, as by pyarrow.ipc.read_record_batch.
EXPORT PyObject* fuzz_read_message(PyObject* file, PyObject* schema) noexcept {
  const auto message = arrow::ipc::ReadMessage(fuzz::FileOf(file).get());
  if (!message.ok() || *message == nullptr) return nullptr;
  const arrow::ipc::DictionaryMemo memo;
  return WrapIfOk(arrow::ipc::ReadRecordBatch(**message, fuzz::Unwrap<arrow::Schema>(schema), &memo,
                                              arrow::ipc::IpcReadOptions::Defaults()));
}

using Use = void (*)(void* context, PyObject* batch);

// Uses each batch of a stream or file, the first ones.
EXPORT void fuzz_read_all(PyObject* object, bool is_file, Use use, void* context) noexcept {
  constexpr int kMost = 6;
  const auto each = [&](const Batch& batch) {
    PyObject* wrapped = fuzz::Wrap(batch);
    use(context, wrapped);
    fuzz::DecRef(wrapped);
  };
  const auto file = fuzz::FileOf(object);
  if (is_file) {
    const auto reader = arrow::ipc::RecordBatchFileReader::Open(file);
    if (!reader.ok()) return;
    for (int i = 0; i < std::min((*reader)->num_record_batches(), kMost); ++i) {
      const auto batch = (*reader)->ReadRecordBatch(i);
      if (batch.ok()) each(*batch);
    }
    return;
  }
  const auto reader = arrow::ipc::RecordBatchStreamReader::Open(file);
  if (!reader.ok()) return;
  for (int i = 0; i < kMost; ++i) {
    Batch batch;
    if (!(*reader)->ReadNext(&batch).ok() || batch == nullptr) return;
    each(batch);
  }
}
