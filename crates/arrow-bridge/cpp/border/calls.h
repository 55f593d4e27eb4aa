// Calls of Rust's functions, whose failures become an arrow::Status.
#pragma once

#include <cstdint>

#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {

// For a function that returns whether it succeeded.
template <typename... Parameters, typename... Arguments>
arrow::Status Call(bool (*function)(Parameters...), Arguments... arguments) {
  return Try([&](Failure* failure) { return function(arguments..., failure); });
}

// For a function that returns a count, negative on failure.
template <typename... Parameters, typename... Arguments>
arrow::Result<int64_t> Call(int64_t (*function)(Parameters...), Arguments... arguments) {
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    count = function(arguments..., failure);
    return count >= 0;
  }));
  return count;
}

// For a function that returns a new object, null on failure.
template <typename T, typename... Parameters, typename... Arguments>
arrow::Result<Handle<T>> Call(T* (*function)(Parameters...), Arguments... arguments) {
  Handle<T> made;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    made.reset(function(arguments..., failure));
    return made != nullptr;
  }));
  return made;
}

}  // namespace arrow_cuda
