// The two tables given to `start`, and owning handles for Rust's objects.
#pragma once

#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// Valid once the bridge has called `SetTables`, before anything else can run.
const RustApi& Rust();
const PyarrowApi& Pyarrow();
void SetTables(const RustApi* rust, const PyarrowApi* pyarrow);

struct Release {
  void operator()(RustFault* fault) const { Rust().fault_release(fault); }
  void operator()(RustBuffer* buffer) const { Rust().buffer_release(buffer); }
  void operator()(RustHostBuffer* buffer) const { Rust().host_buffer_release(buffer); }
  void operator()(RustEvent* event) const { Rust().event_release(event); }
  void operator()(RustStream* stream) const { Rust().stream_release(stream); }
  void operator()(RustReader* reader) const { Rust().reader_release(reader); }
  void operator()(RustWriter* writer) const { Rust().writer_release(writer); }
};

// The buffer that lies at a place.
inline const RustBuffer* At(const BufferPlace& place) {
  return reinterpret_cast<const RustBuffer*>(&place);
}

template <typename T>
using Handle = std::unique_ptr<T, Release>;

}  // namespace arrow_cuda
