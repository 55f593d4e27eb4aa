// The one place that converts failures: arrow::Status <-> Failure.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "arrow/result.h"
#include "arrow/status.h"
#include "border/ffi.h"

namespace arrow_cuda {

void Fail(Failure* failure, Kind kind, std::string_view text);
void ToFailure(const arrow::Status& status, Failure* failure);
arrow::Status ToStatus(const Failure& failure);

// The status of a call that has set a Python exception, which must reach Python unchanged.
arrow::Status PythonError();

// Runs one call into Rust: `call(Failure*)` returns whether it succeeded.
template <typename Call>
arrow::Status Try(Call&& call) {
  Failure failure;
  failure.kind = Kind::kNone;
  failure.text[0] = '\0';
  return call(&failure) ? arrow::Status::OK() : ToStatus(failure);
}

// Runs the body of one entry of `BridgeApi`, and catches all exceptions.
template <typename Body>
bool Guard(Failure* failure, Body&& body) noexcept {
  try {
    const arrow::Status status = body();
    if (status.ok()) return true;
    ToFailure(status, failure);
  } catch (const std::bad_alloc&) {
    Fail(failure, Kind::kMemory, "out of host memory");
  } catch (const std::exception& error) {
    Fail(failure, Kind::kInvalid, error.what());
  } catch (...) {
    Fail(failure, Kind::kInvalid, "unknown C++ exception");
  }
  return false;
}

// Runs the body of an entry that returns an object, null on failure, and catches all exceptions.
template <typename Body>
PyObject* GuardObject(Failure* failure, Body&& body) noexcept {
  PyObject* object = nullptr;
  Guard(failure, [&]() -> arrow::Status { return body().Value(&object); });
  return object;
}

}  // namespace arrow_cuda
