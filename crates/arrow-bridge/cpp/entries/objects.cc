// Queries about objects from pyarrow: whether they are initialised, and which device holds their data.
#include "entries/entries.h"

#include <string_view>
#include <typeinfo>

#include "arrow/table.h"
#include "entries/require.h"
#include "memory/device.h"
#include "memory/identity.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

bool IsInitialisedEntry(PyObject* object) noexcept {
  return Unwrap<arrow::Array>(object) != nullptr ||
         Unwrap<arrow::RecordBatch>(object) != nullptr ||
         Unwrap<arrow::ChunkedArray>(object) != nullptr ||
         Unwrap<arrow::Table>(object) != nullptr ||
         Unwrap<arrow::Schema>(object) != nullptr;
}

bool IsInitialisedReaderEntry(PyObject* reader) noexcept { return UnwrapReader(reader) != nullptr; }

BatchSource SourceOfEntry(PyObject* reader) noexcept {
  const auto found = UnwrapReader(reader);
  if (found == nullptr) return BatchSource::kOther;
  if (dynamic_cast<const arrow::TableBatchReader*>(found.get()) != nullptr) return BatchSource::kTable;
  // arrow::py::PyRecordBatchReader; libarrow_python, which has that class, is not linked.
  const arrow::RecordBatchReader& reader_found = *found;
  const std::string_view name = typeid(reader_found).name();
  return name == "N5arrow2py19PyRecordBatchReaderE" ? BatchSource::kIterable : BatchSource::kOther;
}

bool IsOnDeviceEntry(PyObject* object) noexcept {
  if (const auto array = Unwrap<arrow::Array>(object)) return IsOnDevice(*array->data());
  if (const auto batch = Unwrap<arrow::RecordBatch>(object)) return IsOnDevice(*batch);
  if (const auto array = Unwrap<arrow::ChunkedArray>(object)) return IsOnDevice(*array);
  if (const auto table = Unwrap<arrow::Table>(object)) return IsOnDevice(*table);
  const auto buffer = Unwrap<arrow::Buffer>(object);
  return buffer != nullptr && (!buffer->is_cpu() || IsOnDevice(*buffer));
}

Contexts ContextsOfEntry(PyObject* object) noexcept { return ContextsOf(ColumnsOf(object)); }

const RustContext* OneContextOfEntry(PyObject* object) noexcept { return OneContextOf(ColumnsOf(object)); }

Failure CheckContextsEntry(PyObject* object) noexcept {
  return Guard([&] { return CheckContexts(ColumnsOf(object)); });
}

bool HasDevicesEntry() noexcept { return Device::HasAny(); }

}  // namespace arrow_cuda
