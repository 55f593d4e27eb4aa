#include "border/status.h"

#include <string>
#include <utility>

#include "border/rust.h"

namespace arrow_cuda {
namespace {

constexpr char kPythonDetail[] = "arrow_cuda::PythonErrorDetail";

class PythonErrorDetail : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return kPythonDetail; }
  std::string ToString() const override { return "a Python exception is set"; }
};

// The kinds that have a status code of their own; all others are invalid.
constexpr std::pair<Kind, arrow::StatusCode> kCodes[] = {
    {Kind::kIo, arrow::StatusCode::IOError},
    {Kind::kType, arrow::StatusCode::TypeError},
    {Kind::kNotImplemented, arrow::StatusCode::NotImplemented},
    {Kind::kMemory, arrow::StatusCode::OutOfMemory},
    {Kind::kIndex, arrow::StatusCode::IndexError},
    {Kind::kKey, arrow::StatusCode::KeyError},
    {Kind::kCapacity, arrow::StatusCode::CapacityError},
};

Kind KindOf(const Status& status) {
  if (status.detail() != nullptr && status.detail()->type_id() == kPythonDetail) {
    return Kind::kPython;
  }
  for (const auto& [kind, code] : kCodes) {
    if (code == status.code()) return kind;
  }
  return Kind::kInvalid;
}

arrow::StatusCode CodeOf(Kind wanted) {
  for (const auto& [kind, code] : kCodes) {
    if (kind == wanted) return code;
  }
  return arrow::StatusCode::Invalid;
}

}  // namespace

RustFault* Fault(Kind kind, std::string_view text) noexcept {
  return Rust().fault_new(kind, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

RustFault* ToFault(const Status& status) noexcept {
  return status.ok() ? nullptr : Fault(KindOf(status), status.message());
}

Status ToStatus(RustFault* failure) {
  if (failure == nullptr) return Status::OK();
  const Handle<RustFault> fault(failure);
  const auto [kind, text] = Rust().fault_facts(fault.get());
  if (kind == Kind::kPython) return PythonError();
  return Status(CodeOf(kind), std::string(reinterpret_cast<const char*>(text.data), text.size));
}

Status PythonError() {
  return Status(arrow::StatusCode::UnknownError, "a Python exception is set",
                std::make_shared<PythonErrorDetail>());
}

}  // namespace arrow_cuda
