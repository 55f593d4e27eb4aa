// Calls of Rust's functions, whose failures become a Status.
#pragma once

#include <concepts>

#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {

// The type that owns a returned value: for one of Rust's objects, its handle.
template <typename T>
struct Taken {
  using Type = T;
};
template <typename T>
  requires std::invocable<Release, T*>
struct Taken<T*> {
  using Type = Handle<T>;
};

// For a function without a value.
template <typename... Parameters, typename... Arguments>
Status Call(Failure (*function)(Parameters...), Arguments... arguments) {
  return ToStatus(function(arguments...));
}

template <typename T, typename... Parameters, typename... Arguments>
Result<typename Taken<T>::Type> Call(Outcome<T> (*function)(Parameters...),
                                     Arguments... arguments) {
  const Outcome<T> outcome = function(arguments...);
  ARROW_RETURN_NOT_OK(ToStatus(outcome.failure));
  return typename Taken<T>::Type(outcome.value);
}

// Has Rust call a function during a call.
template <typename Function>
Callback CallbackTo(const Function& function) {
  const auto call = [](const void* called) noexcept -> RustFault* {
    return Guard(*static_cast<const Function*>(called));
  };
  return Callback{call, &function};
}

}  // namespace arrow_cuda
