// Pinned host memory as libarrow's memory pool.
#pragma once

#include <cstdint>
#include <string>

#include "arrow/memory_pool.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// Counts what Rust's pool allocates.  Any thread may use it, with or without the GIL.
class PinnedPool : public arrow::MemoryPool {
 public:
  // The pool for one of Rust's.  It is never destroyed: buffers refer to it for as long as they live.
  static PinnedPool* Of(const RustPool* pool);

  const RustPool* raw() const { return pool_; }

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;
  void ReleaseUnused() override;
  void PrintStats() override;

  int64_t bytes_allocated() const override { return stats_.bytes_allocated(); }
  int64_t max_memory() const override { return stats_.max_memory(); }
  int64_t total_bytes_allocated() const override { return stats_.total_bytes_allocated(); }
  int64_t num_allocations() const override { return stats_.num_allocations(); }
  std::string backend_name() const override { return "pinned"; }

 private:
  explicit PinnedPool(const RustPool* pool) : pool_(pool) {}

  Status AllocateUncounted(int64_t size, int64_t alignment, uint8_t** out);

  const RustPool* const pool_;
  arrow::internal::MemoryPoolStats stats_;
};

}  // namespace arrow_cuda
