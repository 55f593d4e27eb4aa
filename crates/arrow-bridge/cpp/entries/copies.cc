// Copies of arrays and record batches.
#include "entries/entries.h"

#include <memory>
#include <optional>
#include <utility>

#include "arrow/array/util.h"
#include "border/status.h"
#include "copies/arrays.h"
#include "entries/require.h"
#include "exchange/null_count.h"
#include "memory/device.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

using arrow::Status;
using ManagerPtr = std::shared_ptr<arrow::MemoryManager>;

struct Destination {
  PyObject* object;
  bool is_device;

  // Null where there is no destination.
  arrow::Result<ManagerPtr> Manager() const {
    if (object == nullptr) return nullptr;
    if (is_device) {
      const auto device = UnwrapDevice(object);
      if (device == nullptr) return Status::TypeError("expected an initialised pyarrow.Device");
      return device->default_memory_manager();
    }
    auto manager = UnwrapMemoryManager(object);
    if (manager == nullptr) {
      return Status::TypeError("expected an initialised pyarrow.MemoryManager");
    }
    return manager;
  }
};

arrow::Result<std::optional<arrow::ArrayDataVector>> Copy(const arrow::ArrayDataVector& columns,
                                                          const Destination& destination) {
  ARROW_ASSIGN_OR_RAISE(const auto to, destination.Manager());
  if (to == nullptr) return std::nullopt;
  WithoutGil unlocked;
  // libarrow would count the nulls of a copy on a device as if its bitmap were host memory.
  if (!to->is_cpu()) ARROW_RETURN_NOT_OK(CountNulls(columns));
  return CopyArrays(columns, to);
}

arrow::Result<PyObject*> CopyArray(PyObject* object, const Destination& to) {
  ARROW_ASSIGN_OR_RAISE(const auto array, RequireArray(object));
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copy({array->data()}, to));
  if (!copies.has_value()) return nullptr;
  return WrapArray(arrow::MakeArray(copies->front()));
}

arrow::Result<PyObject*> CopyBatch(PyObject* object, const Destination& to) {
  ARROW_ASSIGN_OR_RAISE(const auto batch, RequireBatch(object));
  ARROW_ASSIGN_OR_RAISE(auto copies, Copy(batch->column_data(), to));
  if (!copies.has_value()) return nullptr;
  // As libarrow's own copy says it: the place of the first column.
  const auto place =
      copies->empty() ? arrow::DeviceAllocationType::kCPU : copies->front()->device_type();
  return WrapBatch(arrow::RecordBatch::Make(batch->schema(), batch->num_rows(),
                                            std::move(*copies), place));
}

}  // namespace

PyObject* CopyToEntry(PyObject* object, bool is_batch, PyObject* destination, bool is_device,
                      Failure* failure) noexcept {
  PyObject* copy = nullptr;
  Guard(failure, [&]() -> Status {
    const Destination to{destination, is_device};
    return (is_batch ? CopyBatch(object, to) : CopyArray(object, to)).Value(&copy);
  });
  return copy;
}

}  // namespace arrow_cuda
