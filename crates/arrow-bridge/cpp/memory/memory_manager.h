// How libarrow allocates, copies and views the memory of one GPU.
#pragma once

#include <cstdint>
#include <memory>

#include "arrow/device.h"
#include "memory/device.h"

namespace arrow_cuda {

class MemoryManager : public arrow::MemoryManager {
 public:
  explicit MemoryManager(const std::shared_ptr<Device>& device)
      : arrow::MemoryManager(device), number_(device->number()) {}

  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> GetBufferReader(
      std::shared_ptr<arrow::Buffer> buffer) override;
  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> GetBufferWriter(
      std::shared_ptr<arrow::Buffer> buffer) override;
  arrow::Result<std::unique_ptr<arrow::Buffer>> AllocateBuffer(int64_t size) override;

  arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> MakeDeviceSyncEvent() override;
  // `event` is a CUevent*.
  arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> WrapDeviceSyncEvent(
      void* event, arrow::Device::SyncEvent::release_fn_t release) override;

 protected:
  // A null result means "not supported": libarrow then tries another way.
  arrow::Result<std::shared_ptr<arrow::Buffer>> CopyBufferFrom(
      const std::shared_ptr<arrow::Buffer>& buffer,
      const std::shared_ptr<arrow::MemoryManager>& from) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> CopyBufferTo(
      const std::shared_ptr<arrow::Buffer>& buffer,
      const std::shared_ptr<arrow::MemoryManager>& to) override;
  arrow::Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedFrom(
      const arrow::Buffer& buffer, const std::shared_ptr<arrow::MemoryManager>& from) override;
  arrow::Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedTo(
      const arrow::Buffer& buffer, const std::shared_ptr<arrow::MemoryManager>& to) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ViewBufferFrom(
      const std::shared_ptr<arrow::Buffer>& buffer,
      const std::shared_ptr<arrow::MemoryManager>& from) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ViewBufferTo(
      const std::shared_ptr<arrow::Buffer>& buffer,
      const std::shared_ptr<arrow::MemoryManager>& to) override;

 private:
  const int32_t number_;
};

}  // namespace arrow_cuda
