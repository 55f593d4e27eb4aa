// The functions of `BridgeApi`, which `ARROW_CUDA_ROWS` lists; `imported!` in src/bridge/ declares them.
#pragma once

#include "border/ffi.h"

namespace arrow_cuda {

// The type of the functions that a row of the table points to, none of which throws.
template <typename Row>
struct EntryOf;
template <typename Result, typename... Parameters>
struct EntryOf<Result (*)(Parameters...)> {
  using Type = Result(Parameters...) noexcept;
};

#define ARROW_CUDA_DECLARE(row, Entry) EntryOf<decltype(BridgeApi::row)>::Type Entry;
ARROW_CUDA_ROWS(ARROW_CUDA_DECLARE)
#undef ARROW_CUDA_DECLARE

}  // namespace arrow_cuda
