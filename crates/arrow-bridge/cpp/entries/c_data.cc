// The C Device interface: events, null counts and checks that libarrow lacks.
#include "entries/entries.h"

#include <utility>
#include <vector>

#include "arrow/c/abi.h"
#include "arrow/c/bridge.h"
#include "arrow/c/helpers.h"
#include "arrow/type.h"
#include "border/rust.h"
#include "border/status.h"
#include "entries/require.h"
#include "c_data/c_device.h"
#include "c_data/exportable.h"
#include "c_data/null_count.h"
#include "c_data/structure.h"
#include "memory/device.h"
#include "memory/on_device.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

// Rust checks that these numbers of bytes can be read.
static_assert(sizeof(ArrowDeviceArray) == 128 && sizeof(ArrowSchema) == 72);

// Releases both structures after a failed export or import.
void ReleaseBoth(ArrowDeviceArray* array, void* schema) noexcept {
  ArrowArrayRelease(&array->array);
  if (schema != nullptr) ArrowSchemaRelease(static_cast<ArrowSchema*>(schema));
}

// The replacement that `make` makes of the data without the GIL, null if that is the data itself.
template <typename Data, typename Make>
Result<PyObject*> Replaced(const Data& data, Make&& make) {
  ARROW_ASSIGN_OR_RAISE(const Data made, Unlocked([&] { return make(data); }));
  if (made == data) return nullptr;
  return Wrap(made);
}

template <typename Data>
Result<PyObject*> Prepared(const Data& data, const ArrayDataVector& columns) {
  if (IsExportable(columns)) return nullptr;
  return Replaced(data, [](const Data& data) { return Exportable(data); });
}

Result<PyObject*> Prepared(PyObject* object, bool is_batch) {
  if (is_batch) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, Require<arrow::RecordBatch>(object));
    return Prepared(batch, batch->column_data());
  }
  ARROW_ASSIGN_OR_RAISE(const auto array, Require<arrow::Array>(object));
  return Prepared(array, {array->data()});
}

// Nothing is followed before this, neither here nor in libarrow.
Status CheckStructures(ArrowArray* array, const ArrowSchema* schema, PyObject* described,
                       bool is_batch, ReadOnHost* reads) {
  if (schema != nullptr) {
    ARROW_RETURN_NOT_OK(CheckStructure(*schema));
    return CheckStructure(array, *schema, reads);
  }
  auto type = Unwrap<DataType>(described);
  if (is_batch) {
    const auto fields = Unwrap<arrow::Schema>(described);
    type = fields == nullptr ? nullptr : arrow::struct_(fields->fields());
  }
  return type == nullptr ? Status::OK() : CheckStructure(array, *type, reads);
}

// The types to import; empty where pyarrow refuses `described`.
// `consumed` is what was made of `schema`.
Result<std::vector<TypePtr>> TypesOf(ArrowSchema* schema, PyObject* described, bool is_batch,
                                     PyObject** consumed) {
  std::vector<TypePtr> types;
  if (!is_batch) {
    auto type = Unwrap<DataType>(described);
    if (schema != nullptr) {
      ARROW_ASSIGN_OR_RAISE(type, arrow::ImportType(schema));
      ARROW_ASSIGN_OR_RAISE(*consumed, Wrap(type));
    }
    if (type != nullptr) types.push_back(std::move(type));
    return types;
  }
  auto fields = Unwrap<arrow::Schema>(described);
  if (schema != nullptr) {
    ARROW_ASSIGN_OR_RAISE(fields, arrow::ImportSchema(schema));
    ARROW_ASSIGN_OR_RAISE(*consumed, Wrap(fields));
  }
  if (fields == nullptr) return types;
  for (const auto& field : fields->fields()) types.push_back(field->type());
  return types;
}

arrow::DeviceAllocationType DeviceTypeOf(const arrow::RecordBatch& batch) {
  const auto location = LocationOf(batch.column_data());
  const bool is_there = location.has_value() && IsCuda(*location->manager);
  return is_there ? location->type : arrow::DeviceAllocationType::kCUDA;
}

}  // namespace

Outcome<PyObject*> PrepareEntry(PyObject* object, bool is_batch) noexcept {
  return GuardValue([&] { return Prepared(object, is_batch); });
}

Failure CountNullsEntry(PyObject* object) noexcept {
  return Guard([&] { return CountNulls(ColumnsOf(object)); });
}

Failure MakeReadyEntry(PyObject* object) noexcept {
  return Guard([&]() -> Status {
    const auto columns = ColumnsOf(object);
    const int32_t device = DeviceOf(columns);
    if (device < 0) return Status::OK();
    WithoutGil unlocked;
    return MakeReady(columns, device);
  });
}

Failure FinishExportEntry(PyObject* object, void* exported, void* schema) noexcept {
  auto* array = static_cast<ArrowDeviceArray*>(exported);
  const Failure failure = Guard([&]() -> Status {
    const auto columns = IsOnGpu(*array) ? ColumnsOf(object) : ArrayDataVector{};
    if (columns.empty()) return FinishExport(columns, array);
    WithoutGil unlocked;
    return FinishExport(columns, array);
  });
  if (failure != nullptr) ReleaseBoth(array, schema);
  return failure;
}

Outcome<PyObject*> PrepareImportEntry(void* imported, void* schema, PyObject* described,
                                      bool is_batch) noexcept {
  auto* array = static_cast<ArrowDeviceArray*>(imported);
  PyObject* consumed = nullptr;
  const Failure failure = Guard([&]() -> Status {
    ReadOnHost reads;
    ARROW_RETURN_NOT_OK(CheckStructures(&array->array, static_cast<const ArrowSchema*>(schema),
                                        described, is_batch, &reads));
    // libarrow refuses it, unless it has something to say about the schema first.
    if (array->array.release == nullptr) return Status::OK();
    bool is_read = false;
    if (MayBePending(*array)) {
      // The structure's own children and dictionaries are untrusted until libarrow has
      // compared them with the type.
      ARROW_ASSIGN_OR_RAISE(const auto types,
                            TypesOf(static_cast<ArrowSchema*>(schema), described, is_batch,
                                    &consumed));
      is_read = ReadsData(types);
    }
    WithoutGil unlocked;
    return PrepareImport(is_batch, is_read, reads, array);
  });
  if (failure != nullptr) {
    ReleaseBoth(array, schema);
    if (consumed != nullptr) Pyarrow().decref(consumed);
  }
  return {consumed, failure};
}

Outcome<PyObject*> FinishImportEntry(PyObject* object, const void* imported) noexcept {
  const auto& origin = *static_cast<const ArrowDeviceArray*>(imported);
  return GuardValue([&]() -> Result<PyObject*> {
    const auto finish = [&](const auto& data) { return FinishImport(data, origin); };
    if (const auto array = Unwrap<arrow::Array>(object)) return Replaced(array, finish);
    const auto batch = Unwrap<arrow::RecordBatch>(object);
    if (batch == nullptr) return Status::TypeError("expected an Array or RecordBatch");
    return Replaced(batch, finish);
  });
}

Outcome<PyObject*> PlacedEntry(PyObject* object) noexcept {
  return GuardValue([&]() -> Result<PyObject*> {
    const auto batch = Unwrap<arrow::RecordBatch>(object);
    if (batch == nullptr || !IsOnDevice(*batch)) return nullptr;
    if (HasUncountedNulls(batch->column_data())) {
      WithoutGil unlocked;
      ARROW_RETURN_NOT_OK(CountNulls(batch->column_data()));
    }
    const auto type = DeviceTypeOf(*batch);
    if (batch->device_type() == type) return nullptr;
    return Wrap(arrow::RecordBatch::Make(batch->schema(), batch->num_rows(),
                                              batch->column_data(), type, batch->GetSyncEvent()));
  });
}

}  // namespace arrow_cuda
