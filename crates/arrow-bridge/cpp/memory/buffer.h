// arrow::Buffers over Rust's device memory and pinned host memory.
#pragma once

#include <cstdint>

#include "arrow/buffer.h"
#include "border/ffi.h"
#include "border/rust.h"

namespace arrow_cuda {

// A range of device memory.  The Rust object keeps the memory and its context alive.
class DeviceBuffer : public arrow::Buffer {
 public:
  // `parent` is the buffer that this is a slice of, or null.
  static Result<std::unique_ptr<DeviceBuffer>> Make(
      Handle<RustBuffer> rust, BufferPtr parent = nullptr);

  // Takes over a buffer whose manager is known.
  DeviceBuffer(const BufferPlace& rust, ManagerPtr manager) noexcept;
  DeviceBuffer(Handle<RustBuffer> rust, ManagerPtr manager, BufferPtr parent) noexcept;

  ~DeviceBuffer() override;

  const RustBuffer* rust() const { return At(rust_); }

 private:
  DeviceBuffer(const BufferFacts& facts, ManagerPtr manager, BufferPtr parent) noexcept;

  BufferPlace rust_;
};

const DeviceBuffer* AsDeviceBuffer(const arrow::Buffer& buffer);
std::shared_ptr<DeviceBuffer> AsDeviceBuffer(const BufferPtr& buffer);

// Pinned memory: the CPU accesses it like any other, but its device type is CUDA_HOST.
class HostBuffer : public arrow::MutableBuffer {
 public:
  static std::shared_ptr<HostBuffer> Make(Handle<RustHostBuffer> rust);

  // A slice of any CUDA_HOST buffer, with the same type.
  static Result<BufferPtr> Slice(const BufferPtr& buffer, int64_t offset, int64_t size);

 private:
  HostBuffer(Handle<RustHostBuffer> rust, const HostFacts& facts);

  const Handle<RustHostBuffer> rust_;
};

}  // namespace arrow_cuda
