#include "memory/pool_buffer.h"

#include <atomic>

#include "arrow/util/bit_util.h"

namespace arrow_cuda {
namespace {

std::atomic<bool> pools_are_gone = false;

// libarrow was loaded before this library, so its pools are destroyed after this.
struct Exit {
  ~Exit() { pools_are_gone = true; }
} at_exit;

}  // namespace

Status PoolBuffer::Allocate(int64_t size) {
  const int64_t capacity = arrow::bit_util::RoundUpToMultipleOf64(size);
  uint8_t* data = nullptr;
  ARROW_RETURN_NOT_OK(pool_->Allocate(capacity, &data));
  data_ = data;
  size_ = size;
  capacity_ = capacity;
  ZeroPadding();
  return Status::OK();
}

PoolBuffer::~PoolBuffer() {
  if (data_ != nullptr && !pools_are_gone) pool_->Free(mutable_data(), capacity_);
}

}  // namespace arrow_cuda
