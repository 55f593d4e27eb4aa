// Arrays without their data, for transports that move the data separately, and batches and tables that are
// assembled from arrays again.
#include "entries/entries.h"

#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/type.h"
#include "border/status.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

bool IsPlainHostMemory(const arrow::Buffer& buffer) {
  return buffer.device_type() == arrow::DeviceAllocationType::kCPU && !IsOnDevice(buffer);
}

BufferPtr Placeholder(BufferPtr buffer) {
  return std::make_shared<arrow::Buffer>(nullptr, 0, arrow::default_cpu_memory_manager(),
                                         std::move(buffer));
}

// The same type, length, null count and offset, all on the host.  An empty buffer replaces each
// buffer that is not plain host memory, which becomes its parent.
DataPtr SkeletonOf(const ArrayData& data) {
  auto skeleton = data.Copy();
  for (auto& buffer : skeleton->buffers) {
    if (buffer != nullptr && !IsPlainHostMemory(*buffer)) buffer = Placeholder(std::move(buffer));
  }
  for (auto& child : skeleton->child_data) {
    if (child != nullptr) child = SkeletonOf(*child);
  }
  if (skeleton->dictionary != nullptr) skeleton->dictionary = SkeletonOf(*skeleton->dictionary);
  return skeleton;
}

// The common length of all columns; fails if they do not fit the schema.
template <typename Column>
Result<int64_t> CommonLength(const arrow::Schema& schema,
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
Result<std::vector<std::shared_ptr<Column>>> Unwrapped(PyObject* const* objects, size_t count) {
  std::vector<std::shared_ptr<Column>> columns;
  columns.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    columns.push_back(Unwrap<Column>(objects[i]));
    if (columns.back() == nullptr) {
      return Status::TypeError("expected columns that are all arrays, or all chunked arrays");
    }
  }
  return columns;
}

// A RecordBatch of arrays, or a Table of chunked arrays.  libarrow's own validation would refuse empty
// device memory, whose address is 0.
Result<PyObject*> Assemble(PyObject* schema_object, PyObject* const* objects, size_t count) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, Require<arrow::Schema>(schema_object));
  if (count == 0) return Status::TypeError("expected at least one column");
  if (Unwrap<arrow::Array>(objects[0]) != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto arrays, Unwrapped<arrow::Array>(objects, count));
    ARROW_ASSIGN_OR_RAISE(const auto length, CommonLength(*schema, arrays));
    ArrayDataVector columns;
    columns.reserve(count);
    for (const auto& array : arrays) columns.push_back(array->data());
    const bool is_there = IsOnDevice(columns);
    return Wrap(arrow::RecordBatch::Make(schema, length, std::move(columns),
                                              is_there ? arrow::DeviceAllocationType::kCUDA
                                                       : arrow::DeviceAllocationType::kCPU));
  }
  ARROW_ASSIGN_OR_RAISE(auto columns, Unwrapped<arrow::ChunkedArray>(objects, count));
  ARROW_ASSIGN_OR_RAISE(const auto length, CommonLength(*schema, columns));
  return Wrap(arrow::Table::Make(schema, std::move(columns), length));
}

}  // namespace

Outcome<PyObject*> SkeletonOfEntry(PyObject* object) noexcept {
  return GuardValue([&]() -> Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(const auto array, Require<arrow::Array>(object));
    return Wrap(arrow::MakeArray(SkeletonOf(*array->data())));
  });
}

Outcome<PyObject*> AssembleColumnsEntry(PyObject* schema, PyObject* const* columns,
                                        size_t count) noexcept {
  return GuardValue([&] { return Assemble(schema, columns, count); });
}

}  // namespace arrow_cuda
