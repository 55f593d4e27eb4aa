#include "border/rust.h"

namespace arrow_cuda {
namespace {

const RustApi* rust_table = nullptr;
const PyarrowApi* pyarrow_table = nullptr;

}  // namespace

const RustApi& Rust() { return *rust_table; }

const PyarrowApi& Pyarrow() { return *pyarrow_table; }

void SetTables(const RustApi* rust, const PyarrowApi* pyarrow) {
  rust_table = rust;
  pyarrow_table = pyarrow;
}

}  // namespace arrow_cuda
