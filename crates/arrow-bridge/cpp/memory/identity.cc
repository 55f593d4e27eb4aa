#include "memory/identity.h"

#include "border/calls.h"
#include "memory/resolve.h"
#include "memory/traverse.h"

namespace arrow_cuda {

ContextIdentity IdentityOf(const arrow::Buffer& buffer) {
  const auto* context = ContextOf(buffer);
  return context == nullptr ? ContextIdentity{} : IdentityOf(*context);
}

bool IsSameMemory(const arrow::Buffer& a, const arrow::Buffer& b) {
  return a.address() == b.address() && a.size() == b.size() && IdentityOf(a) == IdentityOf(b);
}

Status CheckContexts(const ArrayDataVector& columns, const RustContext* known) {
  Status status;
  // Nearly always there is no other one.
  ContextIdentity checked = known == nullptr ? ContextIdentity{} : IdentityOf(*known);
  const auto fails = [&](const arrow::Buffer& buffer) {
    const auto* context = ContextOf(buffer);
    if (context == nullptr || IdentityOf(*context) == checked) return false;
    checked = IdentityOf(*context);
    status = Call(Rust().context_check, context);
    return !status.ok();
  };
  for (const auto& column : columns) {
    if (FindBuffer(*column, fails) != nullptr) break;
  }
  return status;
}

}  // namespace arrow_cuda
