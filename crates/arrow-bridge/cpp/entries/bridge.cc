// The table of C++ functions for Rust, and the one function that the library exports.
#include <type_traits>

#include "arrow/util/config.h"
#include "border/ffi.h"
#include "border/rust.h"
#include "border/status.h"
#include "entries/entries.h"
#include "c_data/mappers.h"

namespace arrow_cuda {
namespace {

Failure Start(const RustApi* rust, const PyarrowApi* pyarrow) {
  rust_table = rust;
  pyarrow_table = pyarrow;
  return Guard(RegisterMappers);
}

#define ARROW_CUDA_FILL(row, Entry) .row = Entry,
constexpr BridgeApi kBridge{
    .abi_version = kAbiVersion,
    .arrow_major = ARROW_VERSION_MAJOR,
    .start = Start,
    ARROW_CUDA_ROWS(ARROW_CUDA_FILL)
};
#undef ARROW_CUDA_FILL

}  // namespace
}  // namespace arrow_cuda

extern "C" __attribute__((visibility("default"))) const arrow_cuda::BridgeApi*
arrow_cuda_bridge_api() {
  using namespace arrow_cuda;
  static_assert(std::is_same_v<decltype(&arrow_cuda_bridge_api), Entry>);
  return &kBridge;
}
