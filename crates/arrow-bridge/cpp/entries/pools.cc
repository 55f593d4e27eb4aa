// Memory pools as pyarrow's objects.
#include "border/status.h"
#include "entries/entries.h"
#include "memory/pinned_pool.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

bool InitPoolEntry(PyObject* fresh, const RustPool* pool, Failure* failure) noexcept {
  return Guard(failure, [&] { return InitPool(fresh, PinnedPool::Of(pool)); });
}

const RustPool* PoolOfEntry(PyObject* object) noexcept {
  const auto* pool = static_cast<const PinnedPool*>(UnwrapPool(object));
  return pool == nullptr ? nullptr : pool->raw();
}

}  // namespace arrow_cuda
