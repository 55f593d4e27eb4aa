#include "memory/on_device.h"

#include <algorithm>
#include <utility>

#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/rust.h"
#include "memory/identity.h"
#include "memory/resolve.h"
#include "memory/traverse.h"

namespace arrow_cuda {

bool IsOnDevice(const ArrayData& data) {
  // An empty one that reports host memory is never read, whatever it is a slice of.
  return FindBuffer(data, [](const arrow::Buffer& buffer) {
    return !buffer.is_cpu() || (buffer.size() > 0 && IsOnDevice(buffer));
  }) != nullptr;
}

bool IsOnDevice(const ArrayDataVector& columns) {
  return std::ranges::any_of(columns, [](const auto& column) { return IsOnDevice(*column); });
}

bool IsOnDevice(const arrow::ChunkedArray& array) {
  const auto is_there = [](const auto& chunk) { return IsOnDevice(*chunk->data()); };
  return std::ranges::any_of(array.chunks(), is_there);
}

bool IsOnDevice(const arrow::RecordBatch& batch) { return IsOnDevice(batch.column_data()); }

bool IsOnDevice(const arrow::Table& table) {
  const auto is_there = [](const auto& column) { return IsOnDevice(*column); };
  return std::ranges::any_of(table.columns(), is_there);
}

int32_t DeviceOf(const ArrayDataVector& columns) {
  for (const auto& column : columns) {
    const auto is_there = [](const arrow::Buffer& buffer) { return IsOnDevice(buffer); };
    if (const auto* buffer = FindBuffer(*column, is_there)) return NumberOf(*buffer);
  }
  return -1;
}

Contexts ContextsOf(const ArrayDataVector& columns) {
  Contexts contexts{DeviceOf(columns), false};
  const auto is_elsewhere = [&](const arrow::Buffer& buffer) {
    if (!IsOnDevice(buffer)) return false;
    const RustContext* context = ContextOf(buffer);
    return context == nullptr || !Rust().context_is_primary(context) ||
           NumberOf(buffer) != contexts.device;
  };
  contexts.is_elsewhere = std::ranges::any_of(
      columns, [&](const auto& column) { return FindBuffer(*column, is_elsewhere) != nullptr; });
  return contexts;
}

const RustContext* OneContextOf(const ArrayDataVector& columns) {
  const RustContext* one = nullptr;
  const auto is_of_another = [&](const arrow::Buffer& buffer) {
    if (buffer.is_cpu() && !IsOnDevice(buffer)) return false;
    const RustContext* context = ContextOf(buffer);
    const RustContext* before = std::exchange(one, context);
    if (context == nullptr) return true;
    return before != nullptr && before != context && !(IdentityOf(*before) == IdentityOf(*context));
  };
  const auto has_others = [&](const auto& column) { return FindBuffer(*column, is_of_another) != nullptr; };
  return std::ranges::any_of(columns, has_others) ? nullptr : one;
}

}  // namespace arrow_cuda
