// Arrays with all that they contain: children and dictionaries.
#pragma once

#include "arrow/array/array_base.h"
#include "arrow/array/data.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "border/names.h"

namespace arrow_cuda {

inline ArrayDataVector ColumnsOf(const arrow::Array& array) { return {array.data()}; }
inline const ArrayDataVector& ColumnsOf(const arrow::RecordBatch& batch) {
  return batch.column_data();
}
inline ArrayDataVector ColumnsOf(const arrow::ChunkedArray& array) {
  ArrayDataVector chunks;
  for (const auto& chunk : array.chunks()) chunks.push_back(chunk->data());
  return chunks;
}

// Whether the condition holds for an array or for one within it.
template <typename Condition>
bool AnyWithin(const ArrayData& data, const Condition& condition) {
  if (condition(data)) return true;
  for (const auto& child : data.child_data) {
    if (child != nullptr && AnyWithin(*child, condition)) return true;
  }
  return data.dictionary != nullptr && AnyWithin(*data.dictionary, condition);
}

// The first buffer within an array for which the condition holds, null for none.
template <typename Condition>
const arrow::Buffer* FindBuffer(const ArrayData& data, const Condition& condition) {
  const arrow::Buffer* found = nullptr;
  AnyWithin(data, [&](const ArrayData& part) {
    for (const auto& buffer : part.buffers) {
      if (buffer == nullptr || !condition(*buffer)) continue;
      found = buffer.get();
      return true;
    }
    return false;
  });
  return found;
}

template <typename Visit>
void ForEachBuffer(const ArrayData& data, const Visit& visit) {
  FindBuffer(data, [&](const arrow::Buffer& buffer) {
    visit(buffer);
    return false;
  });
}

}  // namespace arrow_cuda
