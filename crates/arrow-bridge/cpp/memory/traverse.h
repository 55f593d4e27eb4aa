// Arrays with all that they contain: children and dictionaries.
#pragma once

#include "arrow/array/array_base.h"
#include "arrow/array/data.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"

namespace arrow_cuda {

inline arrow::ArrayDataVector ColumnsOf(const arrow::Array& array) { return {array.data()}; }
inline const arrow::ArrayDataVector& ColumnsOf(const arrow::RecordBatch& batch) {
  return batch.column_data();
}
inline arrow::ArrayDataVector ColumnsOf(const arrow::ChunkedArray& array) {
  arrow::ArrayDataVector chunks;
  for (const auto& chunk : array.chunks()) chunks.push_back(chunk->data());
  return chunks;
}

// Whether the condition holds for an array or for one within it.
template <typename Condition>
bool AnyWithin(const arrow::ArrayData& data, const Condition& condition) {
  if (condition(data)) return true;
  for (const auto& child : data.child_data) {
    if (child != nullptr && AnyWithin(*child, condition)) return true;
  }
  return data.dictionary != nullptr && AnyWithin(*data.dictionary, condition);
}

// The first buffer within an array for which the condition holds, null for none.
template <typename Condition>
const arrow::Buffer* FindBuffer(const arrow::ArrayData& data, const Condition& condition) {
  const arrow::Buffer* found = nullptr;
  AnyWithin(data, [&](const arrow::ArrayData& part) {
    for (const auto& buffer : part.buffers) {
      if (buffer == nullptr || !condition(*buffer)) continue;
      found = buffer.get();
      return true;
    }
    return false;
  });
  return found;
}

// Calls `visit` with each buffer within an array.
template <typename Visit>
void ForEachBuffer(const arrow::ArrayData& data, const Visit& visit) {
  FindBuffer(data, [&](const arrow::Buffer& buffer) {
    visit(buffer);
    return false;
  });
}

}  // namespace arrow_cuda
