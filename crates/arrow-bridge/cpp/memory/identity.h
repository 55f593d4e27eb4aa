// The context that a buffer's memory belongs to.  An address alone does not tell: after a reset of a device,
// the allocations of its next context have the same addresses.
#pragma once

#include <compare>
#include <tuple>

#include "arrow/array/data.h"
#include "arrow/buffer.h"
#include "border/names.h"
#include "border/rust.h"

namespace arrow_cuda {

inline auto operator<=>(const ContextIdentity& a, const ContextIdentity& b) {
  return std::tie(a.handle, a.number) <=> std::tie(b.handle, b.number);
}
inline bool operator==(const ContextIdentity& a, const ContextIdentity& b) {
  return std::is_eq(a <=> b);
}

inline ContextIdentity IdentityOf(const RustContext& context) {
  return Rust().context_identity(&context);
}

// The identity of the context of a buffer in device memory; zeros for host memory.
ContextIdentity IdentityOf(const arrow::Buffer& buffer);

// Whether two buffers are the same bytes of the same memory.
bool IsSameMemory(const arrow::Buffer& a, const arrow::Buffer& b);

// Fails if a context is gone that memory of the columns belongs to, other than one that is known to live: for
// what hands out addresses.
Status CheckContexts(const ArrayDataVector& columns, const RustContext* known = nullptr);

}  // namespace arrow_cuda
