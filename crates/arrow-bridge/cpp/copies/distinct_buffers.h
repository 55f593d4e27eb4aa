// The buffers of arrays, without duplicates: arrays may share memory.
#pragma once

#include <cstddef>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/buffer.h"
#include "border/names.h"

namespace arrow_cuda {

class DistinctBuffers {
 public:
  explicit DistinctBuffers(const ArrayDataVector& arrays);

  // One buffer for each piece of memory, in the order in which the arrays first refer to it.
  const std::vector<const arrow::Buffer*>& buffers() const { return buffers_; }

  // The same arrays, each buffer replaced with its copy.
  ArrayDataVector Replaced(const ArrayDataVector& arrays, std::vector<BufferPtr> copies) const;

 private:
  std::vector<const arrow::Buffer*> buffers_;
  // Which of them each reference is to, in the order of `AnyWithin`.
  std::vector<size_t> references_;
  size_t arrays_ = 0;
};

}  // namespace arrow_cuda
