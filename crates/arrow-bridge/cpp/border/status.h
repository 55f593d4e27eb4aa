// The one place that converts failures: Status <-> RustFault.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

RustFault* Fault(Kind kind, std::string_view text) noexcept;
// Null if it is OK.
RustFault* ToFault(const Status& status) noexcept;
// Takes the failure over; OK for null.
Status ToStatus(RustFault* failure);

// The status of a call that has set a Python exception, which must reach Python unchanged.
Status PythonError();

// Runs the body of one entry of `BridgeApi`, and catches all exceptions.
template <typename Body>
RustFault* Guard(Body&& body) noexcept {
  try {
    return ToFault(body());
  } catch (const std::bad_alloc&) {
    return Fault(Kind::kMemory, "out of host memory");
  } catch (const std::exception& error) {
    return Fault(Kind::kInvalid, error.what());
  } catch (...) {
    return Fault(Kind::kInvalid, "unknown C++ exception");
  }
}

// Runs the body of an entry with a value, and catches all exceptions.
template <typename Body>
auto GuardValue(Body&& body) noexcept {
  Outcome<typename decltype(body())::ValueType> outcome{};
  outcome.failure = Guard([&]() -> Status { return body().Value(&outcome.value); });
  return outcome;
}

}  // namespace arrow_cuda
