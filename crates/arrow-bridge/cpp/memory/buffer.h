// arrow::Buffers over Rust's device memory and pinned host memory.
#pragma once

#include <cstdint>
#include <memory>

#include "arrow/buffer.h"
#include "border/ffi.h"
#include "border/rust.h"

namespace arrow_cuda {

// A range of device memory.  The Rust object keeps the memory and its context alive.
class DeviceBuffer : public arrow::Buffer {
 public:
  // `parent` is the buffer that this is a slice of, or null.
  static arrow::Result<std::unique_ptr<DeviceBuffer>> Make(
      Handle<RustBuffer> rust, std::shared_ptr<arrow::Buffer> parent = nullptr);

  // Takes over a buffer whose manager is known.
  DeviceBuffer(const BufferPlace& rust, std::shared_ptr<arrow::MemoryManager> manager) noexcept;
  DeviceBuffer(Handle<RustBuffer> rust, std::shared_ptr<arrow::MemoryManager> manager,
               std::shared_ptr<arrow::Buffer> parent) noexcept;

  ~DeviceBuffer() override;

  const RustBuffer* rust() const { return At(rust_); }

 private:
  DeviceBuffer(const BufferFacts& facts, std::shared_ptr<arrow::MemoryManager> manager,
               std::shared_ptr<arrow::Buffer> parent) noexcept;

  BufferPlace rust_;
};

// The buffer as a DeviceBuffer, null for any other class.
const DeviceBuffer* AsDeviceBuffer(const arrow::Buffer& buffer);
std::shared_ptr<DeviceBuffer> AsDeviceBuffer(const std::shared_ptr<arrow::Buffer>& buffer);

// Pinned memory: the CPU accesses it like any other, but its device type is CUDA_HOST.
class HostBuffer : public arrow::MutableBuffer {
 public:
  static std::shared_ptr<HostBuffer> Make(Handle<RustHostBuffer> rust);

  // A slice of any CUDA_HOST buffer, with the same type.
  static arrow::Result<std::shared_ptr<arrow::Buffer>> Slice(
      const std::shared_ptr<arrow::Buffer>& buffer, int64_t offset, int64_t size);

 private:
  HostBuffer(Handle<RustHostBuffer> rust, const HostFacts& facts);

  const Handle<RustHostBuffer> rust_;
};

}  // namespace arrow_cuda
