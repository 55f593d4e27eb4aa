#include "entries/require.h"

#include "memory/resolve.h"

namespace arrow_cuda {

namespace {

template <typename Pointer>
Result<Pointer> Required(Pointer value, const char* name) {
  if (value == nullptr) {
    return Status::TypeError("expected an initialised pyarrow.", name);
  }
  return value;
}

}  // namespace

Result<ManagerPtr> ManagerOf(const Destination* destination) {
  if (destination == nullptr) return nullptr;
  const auto [object, is_device] = *destination;
  if (!is_device) return Required(UnwrapMemoryManager(object), "MemoryManager");
  ARROW_ASSIGN_OR_RAISE(const auto device, Required(UnwrapDevice(object), "Device"));
  return device->default_memory_manager();
}

ArrayDataVector ColumnsOf(PyObject* object) {
  if (const auto array = Unwrap<arrow::Array>(object)) return {array->data()};
  if (const auto batch = Unwrap<arrow::RecordBatch>(object)) return batch->column_data();
  ArrayDataVector columns;
  const auto add = [&](const arrow::ChunkedArray& array) {
    for (const auto& chunk : array.chunks()) columns.push_back(chunk->data());
  };
  if (const auto array = Unwrap<arrow::ChunkedArray>(object)) {
    add(*array);
  } else if (const auto table = Unwrap<arrow::Table>(object)) {
    for (const auto& column : table->columns()) add(*column);
  }
  return columns;
}

Result<std::shared_ptr<DeviceBuffer>> RequireDeviceBuffer(PyObject* object) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, Require<arrow::Buffer>(object));
  if (auto ours = AsDeviceBuffer(buffer)) return ours;
  // An imported buffer must wait for its producer.
  WithoutGil unlocked;
  return ResolveDevice(buffer);
}

}  // namespace arrow_cuda
