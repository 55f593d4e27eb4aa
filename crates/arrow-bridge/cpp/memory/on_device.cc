#include "memory/on_device.h"

#include <algorithm>

#include "arrow/array/array_base.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

// The first buffer in the memory of a GPU, null for none.
const arrow::Buffer* DeviceBufferOf(const arrow::ArrayData& data) {
  for (const auto& buffer : data.buffers) {
    if (buffer != nullptr && IsOnDevice(*buffer)) return buffer.get();
  }
  for (const auto& child : data.child_data) {
    const auto* found = child == nullptr ? nullptr : DeviceBufferOf(*child);
    if (found != nullptr) return found;
  }
  return data.dictionary == nullptr ? nullptr : DeviceBufferOf(*data.dictionary);
}

}  // namespace

bool IsOnDevice(const arrow::ArrayData& data) {
  // An empty one that says it is the host's is never read, whatever it is a slice of.
  const auto is_there = [](const auto& buffer) {
    return buffer != nullptr &&
           (!buffer->is_cpu() || (buffer->size() > 0 && IsOnDevice(*buffer)));
  };
  const auto is_child_there = [](const auto& child) { return child && IsOnDevice(*child); };
  return std::any_of(data.buffers.begin(), data.buffers.end(), is_there) ||
         std::any_of(data.child_data.begin(), data.child_data.end(), is_child_there) ||
         (data.dictionary != nullptr && IsOnDevice(*data.dictionary));
}

bool IsOnDevice(const arrow::ArrayDataVector& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& column) { return IsOnDevice(*column); });
}

bool IsOnDevice(const arrow::ChunkedArray& array) {
  const auto& chunks = array.chunks();
  return std::any_of(chunks.begin(), chunks.end(),
                     [](const auto& chunk) { return IsOnDevice(*chunk->data()); });
}

bool IsOnDevice(const arrow::RecordBatch& batch) { return IsOnDevice(batch.column_data()); }

bool IsOnDevice(const arrow::Table& table) {
  const auto& columns = table.columns();
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& column) { return IsOnDevice(*column); });
}

int32_t DeviceOf(const arrow::ArrayDataVector& columns) {
  for (const auto& column : columns) {
    if (const auto* buffer = DeviceBufferOf(*column)) return NumberOf(*buffer);
  }
  return -1;
}

}  // namespace arrow_cuda
