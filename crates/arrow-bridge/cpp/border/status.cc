#include "border/status.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

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

Kind KindOf(const arrow::Status& status) {
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

// The longest prefix of `text` that fits in `capacity` bytes and ends at a UTF-8 boundary.
size_t FittingSize(std::string_view text, size_t capacity) {
  if (text.size() <= capacity) return text.size();
  size_t size = capacity;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return size;
}

}  // namespace

void Fail(Failure* failure, Kind kind, std::string_view text) {
  if (failure == nullptr) return;
  const size_t size = FittingSize(text, sizeof(failure->text) - 1);
  std::memcpy(failure->text, text.data(), size);
  failure->text[size] = '\0';
  failure->kind = kind;
}

void ToFailure(const arrow::Status& status, Failure* failure) {
  Fail(failure, KindOf(status), status.message());
}

arrow::Status ToStatus(const Failure& failure) {
  if (failure.kind == Kind::kPython) return PythonError();
  const auto* end = std::find(failure.text, failure.text + sizeof(failure.text), '\0');
  return arrow::Status(CodeOf(failure.kind), std::string(failure.text, end));
}

arrow::Status PythonError() {
  return arrow::Status(arrow::StatusCode::UnknownError, "a Python exception is set",
                       std::make_shared<PythonErrorDetail>());
}

}  // namespace arrow_cuda
