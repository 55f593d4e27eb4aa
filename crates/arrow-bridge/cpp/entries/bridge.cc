// The table of C++ functions for Rust, and the one function that the library exports.
#include <type_traits>

#include "arrow/util/config.h"
#include "border/ffi.h"
#include "border/rust.h"
#include "border/status.h"
#include "entries/entries.h"
#include "exchange/mappers.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

#define ARROW_CUDA_FILL(row, Entry) .row = Entry,
constexpr BridgeApi kBridge{
    .abi_version = kAbiVersion,
    .arrow_major = ARROW_VERSION_MAJOR,
    ARROW_CUDA_ROWS(ARROW_CUDA_FILL)
};
#undef ARROW_CUDA_FILL

Status Start(const RustApi* rust, const PyarrowApi* pyarrow) {
  if (rust == nullptr || pyarrow == nullptr) return Status::Invalid("missing table");
  if (rust->abi_version != kAbiVersion) {
    return Status::Invalid("the bridge has interface version ", kAbiVersion, ", its caller has ",
                           rust->abi_version);
  }
  SetTables(rust, pyarrow);
  return RegisterMappers();
}

}  // namespace
}  // namespace arrow_cuda

extern "C" __attribute__((visibility("default"))) const arrow_cuda::BridgeApi* arrow_cuda_bridge(
    const arrow_cuda::RustApi* rust, const arrow_cuda::PyarrowApi* pyarrow,
    arrow_cuda::Failure* failure) {
  using namespace arrow_cuda;
  static_assert(std::is_same_v<decltype(&arrow_cuda_bridge), Entry>);
  return Guard(failure, [&] { return Start(rust, pyarrow); }) ? &kBridge : nullptr;
}
