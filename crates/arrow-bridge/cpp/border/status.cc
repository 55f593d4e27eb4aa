#include "border/status.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace arrow_cuda {
namespace {

constexpr char kPythonDetail[] = "arrow_cuda::PythonErrorDetail";

class PythonErrorDetail : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return kPythonDetail; }
  std::string ToString() const override { return "a Python exception is set"; }
};

Kind KindOf(const arrow::Status& status) {
  if (status.detail() != nullptr && status.detail()->type_id() == kPythonDetail) {
    return Kind::kPython;
  }
  switch (status.code()) {
    case arrow::StatusCode::IOError:
      return Kind::kIo;
    case arrow::StatusCode::TypeError:
      return Kind::kType;
    case arrow::StatusCode::NotImplemented:
      return Kind::kNotImplemented;
    case arrow::StatusCode::OutOfMemory:
      return Kind::kMemory;
    case arrow::StatusCode::IndexError:
      return Kind::kIndex;
    case arrow::StatusCode::KeyError:
      return Kind::kKey;
    case arrow::StatusCode::CapacityError:
      return Kind::kCapacity;
    default:
      return Kind::kInvalid;
  }
}

arrow::StatusCode CodeOf(Kind kind) {
  switch (kind) {
    case Kind::kIo:
      return arrow::StatusCode::IOError;
    case Kind::kType:
      return arrow::StatusCode::TypeError;
    case Kind::kNotImplemented:
      return arrow::StatusCode::NotImplemented;
    case Kind::kMemory:
      return arrow::StatusCode::OutOfMemory;
    case Kind::kIndex:
      return arrow::StatusCode::IndexError;
    case Kind::kKey:
      return arrow::StatusCode::KeyError;
    case Kind::kCapacity:
      return arrow::StatusCode::CapacityError;
    default:
      return arrow::StatusCode::Invalid;
  }
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
