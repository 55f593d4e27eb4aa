// Copies of arrays, record batches, chunked arrays and tables, and of single buffers.
#include "entries/entries.h"

#include <optional>
#include <utility>
#include <vector>

#include "arrow/array/concatenate.h"
#include "arrow/array/util.h"
#include "copies/arrays.h"
#include "copies/join.h"
#include "entries/require.h"
#include "memory/device.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

struct Target {
  const Destination* destination;
  const RustStream* stream;
  // Copies slices, where they lie, that reach little of their memory, and nothing else.
  bool only_slices;

  // Null where nothing is copied.
  Result<ManagerPtr> ManagerFor(const ArrayDataVector& columns) const {
    if (!only_slices) return ManagerOf(destination);
    const int32_t number = DeviceOf(columns);
    const auto is_elsewhere = [&](const arrow::Buffer& buffer) {
      return buffer.size() > 0 && (!IsOnDevice(buffer) || NumberOf(buffer) != number);
    };
    for (const auto& column : columns) {
      if (number < 0 || FindBuffer(*column, is_elsewhere) != nullptr) return nullptr;
    }
    return ManagerOfDevice(number);
  }
};

// No value where nothing is copied, or libarrow copies; which has no such function for chunks.
Result<std::optional<ArrayDataVector>> Copy(const ArrayDataVector& columns, const Target& target,
                                            bool are_chunks = false) {
  ARROW_ASSIGN_OR_RAISE(const auto to, target.ManagerFor(columns));
  if (to == nullptr) return std::nullopt;
  WithoutGil unlocked;
  ARROW_ASSIGN_OR_RAISE(const auto prepared, Prepare(columns, to, target.stream));
  if (target.only_slices && prepared.arrays == columns) return std::nullopt;
  if (are_chunks) return CopyAnyhow(prepared, to, target.stream);
  return CopyPrepared(prepared, to, target.stream);
}

Result<PyObject*> CopyArray(PyObject* object, const Target& target) {
  ARROW_ASSIGN_OR_RAISE(const auto array, Require<arrow::Array>(object));
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copy({array->data()}, target));
  if (!copies.has_value()) return nullptr;
  return Wrap(arrow::MakeArray(copies->front()));
}

Result<PyObject*> CopyBatch(PyObject* object, const Target& target) {
  ARROW_ASSIGN_OR_RAISE(const auto batch, Require<arrow::RecordBatch>(object));
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copy(batch->column_data(), target));
  if (!copies.has_value()) return nullptr;
  return Wrap(BatchOfCopies(*batch, copies->begin()));
}

// A chunked array like `array`, of the copies from `next` on.
ChunkedPtr OfCopies(const arrow::ChunkedArray& array, ArrayDataVector::const_iterator* next) {
  arrow::ArrayVector chunks;
  chunks.reserve(array.chunks().size());
  while (chunks.size() < array.chunks().size()) chunks.push_back(arrow::MakeArray(*(*next)++));
  return std::make_shared<arrow::ChunkedArray>(std::move(chunks), array.type());
}

Result<PyObject*> CopyChunkedArray(PyObject* object, const Target& target) {
  ARROW_ASSIGN_OR_RAISE(const auto array, Require<arrow::ChunkedArray>(object));
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copy(ColumnsOf(object), target, true));
  if (!copies.has_value()) return nullptr;
  auto next = copies->begin();
  return Wrap(OfCopies(*array, &next));
}

Result<PyObject*> CopyTable(PyObject* object, const Target& target) {
  ARROW_ASSIGN_OR_RAISE(const auto table, Require<arrow::Table>(object));
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copy(ColumnsOf(object), target, true));
  if (!copies.has_value()) return nullptr;
  auto next = copies->begin();
  std::vector<ChunkedPtr> copied;
  copied.reserve(table->columns().size());
  for (const auto& column : table->columns()) copied.push_back(OfCopies(*column, &next));
  return Wrap(arrow::Table::Make(table->schema(), std::move(copied), table->num_rows()));
}

// One array for each column of several chunks, in their places.
Status Combine(std::vector<ChunkedPtr>* columns) {
  std::vector<ArrayDataVector> apart;
  std::vector<size_t> numbers;
  for (size_t number = 0; number < columns->size(); ++number) {
    auto& column = (*columns)[number];
    if (column->num_chunks() < 2) continue;
    if (IsOnDevice(*column)) {
      apart.push_back(ColumnsOf(*column));
      numbers.push_back(number);
    } else {
      ARROW_ASSIGN_OR_RAISE(const auto one, arrow::Concatenate(column->chunks()));
      column = std::make_shared<arrow::ChunkedArray>(one);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto joined, Join(std::move(apart)));
  for (size_t number = 0; number < joined.size(); ++number) {
    (*columns)[numbers[number]] =
        std::make_shared<arrow::ChunkedArray>(arrow::MakeArray(joined[number]));
  }
  return Status::OK();
}

Result<PyObject*> CombineChunks(PyObject* object) {
  ARROW_ASSIGN_OR_RAISE(const auto array, Require<arrow::ChunkedArray>(object));
  if (!IsOnDevice(*array)) return nullptr;
  std::vector<ChunkedPtr> columns{array};
  ARROW_RETURN_NOT_OK(Unlocked([&] { return Combine(&columns); }));
  return Wrap(columns.front()->chunk(0));
}

Result<PyObject*> CombineTable(PyObject* object) {
  ARROW_ASSIGN_OR_RAISE(const auto table, Require<arrow::Table>(object));
  if (!IsOnDevice(*table)) return nullptr;
  auto columns = table->columns();
  ARROW_RETURN_NOT_OK(Unlocked([&] { return Combine(&columns); }));
  return Wrap(arrow::Table::Make(table->schema(), std::move(columns), table->num_rows()));
}

Result<PyObject*> CopyOf(PyObject* object, DataKind kind, const Target& target) {
  switch (kind) {
    case DataKind::kArray:
      return CopyArray(object, target);
    case DataKind::kBatch:
      return CopyBatch(object, target);
    case DataKind::kChunkedArray:
      return CopyChunkedArray(object, target);
    case DataKind::kTable:
      return CopyTable(object, target);
  }
  return Status::TypeError("expected an object with data");
}

}  // namespace

Outcome<PyObject*> CopyToEntry(PyObject* object, DataKind kind, const Destination* destination,
                               const RustStream* stream) noexcept {
  return GuardValue([&] { return CopyOf(object, kind, Target{destination, stream, false}); });
}

Outcome<PyObject*> CopySliceEntry(PyObject* object, DataKind kind) noexcept {
  return GuardValue([&] { return CopyOf(object, kind, Target{nullptr, nullptr, true}); });
}

Outcome<PyObject*> CombineEntry(PyObject* object, DataKind kind) noexcept {
  return GuardValue(
      [&] { return kind == DataKind::kTable ? CombineTable(object) : CombineChunks(object); });
}

int32_t DeviceOfDestinationEntry(const Destination* destination) noexcept {
  const auto manager = ManagerOf(destination);
  if (!manager.ok() || *manager == nullptr || !IsCuda(**manager)) return -1;
  return static_cast<int32_t>((*manager)->device()->device_id());
}

Outcome<PyObject*> BufferToEntry(PyObject* object, const Destination* destination,
                                 bool is_view) noexcept {
  return GuardValue([&]() -> Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(auto buffer, Require<arrow::Buffer>(object));
    ARROW_ASSIGN_OR_RAISE(const auto to, ManagerOf(destination));
    const auto bring = [&] {
      return is_view ? arrow::Buffer::View(std::move(buffer), to)
                     : arrow::Buffer::Copy(std::move(buffer), to);
    };
    ARROW_ASSIGN_OR_RAISE(const auto brought, Unlocked(bring));
    return Wrap(brought);
  });
}

}  // namespace arrow_cuda
