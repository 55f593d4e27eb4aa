#include "memory/on_device.h"

#include <algorithm>

#include "arrow/array/array_base.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "memory/resolve.h"

namespace arrow_cuda {

bool IsOnDevice(const arrow::ArrayData& data) {
  const auto is_there = [](const auto& buffer) {
    return buffer != nullptr && (!buffer->is_cpu() || IsOnDevice(*buffer));
  };
  const auto is_child_there = [](const auto& child) { return child && IsOnDevice(*child); };
  return std::any_of(data.buffers.begin(), data.buffers.end(), is_there) ||
         std::any_of(data.child_data.begin(), data.child_data.end(), is_child_there) ||
         (data.dictionary != nullptr && IsOnDevice(*data.dictionary));
}

bool IsOnDevice(const arrow::ChunkedArray& array) {
  const auto& chunks = array.chunks();
  return std::any_of(chunks.begin(), chunks.end(),
                     [](const auto& chunk) { return IsOnDevice(*chunk->data()); });
}

bool IsOnDevice(const arrow::RecordBatch& batch) {
  const auto& columns = batch.column_data();
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& column) { return IsOnDevice(*column); });
}

bool IsOnDevice(const arrow::Table& table) {
  const auto& columns = table.columns();
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& column) { return IsOnDevice(*column); });
}

}  // namespace arrow_cuda
