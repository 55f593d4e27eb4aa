#include "memory/pinned_pool.h"

#include <cstdio>
#include <map>
#include <mutex>

#include "border/calls.h"

namespace arrow_cuda {
namespace {

// Where allocations of no bytes lie.
alignas(4096) uint8_t no_bytes[1];

}  // namespace

PinnedPool* PinnedPool::Of(const RustPool* pool) {
  // Neither is destroyed at exit: other objects that are may have buffers.
  static auto* const mutex = new std::mutex;
  static auto* const pools = new std::map<const RustPool*, PinnedPool*>;
  const std::lock_guard<std::mutex> lock(*mutex);
  auto& found = (*pools)[pool];
  if (found == nullptr) found = new PinnedPool(pool);
  return found;
}

Status PinnedPool::AllocateUncounted(int64_t size, int64_t alignment, uint8_t** out) {
  if (size < 0) return Status::Invalid("negative malloc size");
  if (size == 0) {
    *out = no_bytes;
    return Status::OK();
  }
  return Call(Rust().pool_allocate, pool_, size, alignment).Value(out);
}

Status PinnedPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(AllocateUncounted(size, alignment, out));
  stats_.DidAllocateBytes(size);
  return Status::OK();
}

Status PinnedPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                              uint8_t** ptr) {
  if (new_size < 0) return Status::Invalid("negative realloc size");
  if (*ptr == no_bytes) {
    ARROW_RETURN_NOT_OK(AllocateUncounted(new_size, alignment, ptr));
  } else if (new_size == 0) {
    Rust().pool_free(pool_, *ptr, old_size);
    *ptr = no_bytes;
  } else {
    ARROW_ASSIGN_OR_RAISE(
        *ptr, Call(Rust().pool_reallocate, pool_, *ptr, old_size, new_size, alignment));
  }
  stats_.DidReallocateBytes(old_size, new_size);
  return Status::OK();
}

void PinnedPool::Free(uint8_t* buffer, int64_t size, int64_t /*alignment*/) {
  if (buffer != no_bytes) Rust().pool_free(pool_, buffer, size);
  stats_.DidFreeBytes(size);
}

void PinnedPool::ReleaseUnused() { Rust().pool_release_unused(pool_); }

void PinnedPool::PrintStats() {
  std::fprintf(stderr, "Pinned memory: %lld bytes allocated, %lld at most; %lld allocations\n",
               static_cast<long long>(bytes_allocated()), static_cast<long long>(max_memory()),
               static_cast<long long>(num_allocations()));
}

}  // namespace arrow_cuda
