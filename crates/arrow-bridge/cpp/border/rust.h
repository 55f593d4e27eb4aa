// The two tables given to `start`, and owning handles for Rust's objects.
#pragma once

#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// Set by the bridge before anything else can run.
inline const RustApi* rust_table = nullptr;
inline const PyarrowApi* pyarrow_table = nullptr;

inline const RustApi& Rust() { return *rust_table; }
inline const PyarrowApi& Pyarrow() { return *pyarrow_table; }

struct Release {
  void operator()(RustFault* fault) const { Rust().fault_release(fault); }
  void operator()(RustContext* context) const { Rust().context_release(context); }
  void operator()(RustBuffer* buffer) const { Rust().buffer_release(buffer); }
  void operator()(RustHostBuffer* buffer) const { Rust().host_buffer_release(buffer); }
  void operator()(RustEvent* event) const { Rust().event_release(event); }
  void operator()(RustReader* reader) const { Rust().reader_release(reader); }
  void operator()(RustWriter* writer) const { Rust().writer_release(writer); }
};

inline const RustBuffer* At(const BufferPlace& place) {
  return reinterpret_cast<const RustBuffer*>(&place);
}

template <typename T>
using Handle = std::unique_ptr<T, Release>;

}  // namespace arrow_cuda
