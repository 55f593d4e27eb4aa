#include "pickling/assembly.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "arrow/array/array_base.h"
#include "arrow/array/data.h"
#include "arrow/chunked_array.h"
#include "arrow/device.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "arrow/type.h"
#include "memory/on_device.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

// The common length of all columns; fails if they do not fit the schema.
template <typename Column>
arrow::Result<int64_t> CommonLength(const arrow::Schema& schema,
                                    const std::vector<std::shared_ptr<Column>>& columns) {
  if (static_cast<size_t>(schema.num_fields()) != columns.size()) {
    return Status::Invalid(columns.size(), " columns, ", schema.num_fields(), " needed");
  }
  const int64_t length = columns[0]->length();
  for (int i = 0; i < schema.num_fields(); ++i) {
    const auto& column = *columns[static_cast<size_t>(i)];
    if (column.length() != length) {
      return Status::Invalid("column ", i, " has ", column.length(), " values, column 0 has ",
                             length);
    }
    const auto& type = *schema.field(i)->type();
    if (!column.type()->Equals(type)) {
      return Status::Invalid("column ", i, " has the type ", column.type()->ToString(), ", not ",
                             type.ToString());
    }
  }
  return length;
}

// The C++ objects behind all columns; fails if one is of another kind.
template <typename Column>
arrow::Result<std::vector<std::shared_ptr<Column>>> Unwrapped(
    std::shared_ptr<Column> (*unwrap)(PyObject*), PyObject* const* objects, size_t count) {
  std::vector<std::shared_ptr<Column>> columns;
  columns.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    columns.push_back(unwrap(objects[i]));
    if (columns.back() == nullptr) {
      return Status::TypeError("expected columns that are all arrays, or all chunked arrays");
    }
  }
  return columns;
}

}  // namespace

arrow::Result<PyObject*> Assemble(PyObject* schema_object, PyObject* const* objects, size_t count) {
  const auto schema = UnwrapSchema(schema_object);
  if (schema == nullptr) return Status::TypeError("expected an initialised pyarrow.Schema");
  if (count == 0) return Status::TypeError("expected at least one column");
  if (UnwrapArray(objects[0]) != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto arrays, Unwrapped(UnwrapArray, objects, count));
    ARROW_ASSIGN_OR_RAISE(const auto length, CommonLength(*schema, arrays));
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;
    columns.reserve(count);
    for (const auto& array : arrays) columns.push_back(array->data());
    const bool is_there = std::any_of(columns.begin(), columns.end(), [](const auto& column) {
      return IsOnDevice(*column);
    });
    return WrapBatch(arrow::RecordBatch::Make(schema, length, std::move(columns),
                                              is_there ? arrow::DeviceAllocationType::kCUDA
                                                       : arrow::DeviceAllocationType::kCPU));
  }
  ARROW_ASSIGN_OR_RAISE(auto columns, Unwrapped(UnwrapChunkedArray, objects, count));
  ARROW_ASSIGN_OR_RAISE(const auto length, CommonLength(*schema, columns));
  return WrapTable(arrow::Table::Make(schema, std::move(columns), length));
}

}  // namespace arrow_cuda
