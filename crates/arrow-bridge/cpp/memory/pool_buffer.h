// A buffer of host memory that can lie in a slab.
#pragma once

#include <cstdint>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/memory_pool.h"
#include "border/names.h"

namespace arrow_cuda {

// Memory of one of libarrow's pools, as `arrow::AllocateBuffer` gives it: aligned, and padded with
// zeros.  Has no memory until `Allocate` succeeds.
class PoolBuffer : public arrow::MutableBuffer {
 public:
  PoolBuffer(arrow::MemoryPool* pool, ManagerPtr manager)
      : arrow::MutableBuffer(nullptr, 0, std::move(manager)), pool_(pool) {}

  ~PoolBuffer() override;

  // To be called once.
  Status Allocate(int64_t size);

 private:
  arrow::MemoryPool* const pool_;
};

}  // namespace arrow_cuda
