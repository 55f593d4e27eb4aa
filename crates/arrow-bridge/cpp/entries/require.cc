#include "entries/require.h"

#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

arrow::Result<std::shared_ptr<arrow::Buffer>> RequireBuffer(PyObject* object) {
  auto buffer = UnwrapBuffer(object);
  if (buffer == nullptr) return arrow::Status::TypeError("expected an initialised pyarrow.Buffer");
  return buffer;
}

arrow::Result<std::shared_ptr<arrow::Array>> RequireArray(PyObject* object) {
  auto array = UnwrapArray(object);
  if (array == nullptr) return arrow::Status::TypeError("expected an initialised pyarrow.Array");
  return array;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RequireBatch(PyObject* object) {
  auto batch = UnwrapBatch(object);
  if (batch == nullptr) {
    return arrow::Status::TypeError("expected an initialised pyarrow.RecordBatch");
  }
  return batch;
}

arrow::Result<std::shared_ptr<arrow::ChunkedArray>> RequireChunkedArray(PyObject* object) {
  auto array = UnwrapChunkedArray(object);
  if (array == nullptr) {
    return arrow::Status::TypeError("expected an initialised pyarrow.ChunkedArray");
  }
  return array;
}

arrow::Result<std::shared_ptr<arrow::Table>> RequireTable(PyObject* object) {
  auto table = UnwrapTable(object);
  if (table == nullptr) return arrow::Status::TypeError("expected an initialised pyarrow.Table");
  return table;
}

arrow::ArrayDataVector ColumnsOf(PyObject* object) {
  if (const auto array = UnwrapArray(object)) return {array->data()};
  if (const auto batch = UnwrapBatch(object)) return batch->column_data();
  arrow::ArrayDataVector columns;
  const auto add = [&](const arrow::ChunkedArray& array) {
    for (const auto& chunk : array.chunks()) columns.push_back(chunk->data());
  };
  if (const auto array = UnwrapChunkedArray(object)) {
    add(*array);
  } else if (const auto table = UnwrapTable(object)) {
    for (const auto& column : table->columns()) add(*column);
  }
  return columns;
}

arrow::Result<std::shared_ptr<DeviceBuffer>> RequireDeviceBuffer(PyObject* object) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, RequireBuffer(object));
  if (auto ours = AsDeviceBuffer(buffer)) return ours;
  // An imported buffer must wait for its producer.
  WithoutGil unlocked;
  return ResolveDevice(buffer);
}

}  // namespace arrow_cuda
