// How libarrow allocates, copies and views the memory of one context.
#pragma once

#include <cstdint>
#include <utility>

#include "border/names.h"
#include "border/rust.h"
#include "memory/device.h"

namespace arrow_cuda {

class MemoryManager : public arrow::MemoryManager {
 public:
  MemoryManager(std::shared_ptr<Device> device, Handle<RustContext> context)
      : arrow::MemoryManager(std::move(device)),
        context_(std::move(context)),
        identity_(Rust().context_identity(context_.get())) {}

  const RustContext* context() const { return context_.get(); }
  const ContextIdentity& identity() const { return identity_; }

  Result<FilePtr> GetBufferReader(BufferPtr buffer) override;
  Result<OutputPtr> GetBufferWriter(BufferPtr buffer) override;
  Result<std::unique_ptr<arrow::Buffer>> AllocateBuffer(int64_t size) override;

  // `event` is a CUevent*.
  Result<EventPtr> WrapDeviceSyncEvent(
      void* event, arrow::Device::SyncEvent::release_fn_t release) override;

 protected:
  // A null result means "not supported": libarrow then tries another way.
  Result<BufferPtr> CopyBufferFrom(const BufferPtr& buffer, const ManagerPtr& from) override;
  Result<BufferPtr> CopyBufferTo(const BufferPtr& buffer, const ManagerPtr& to) override;
  Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedFrom(
      const arrow::Buffer& buffer, const ManagerPtr& from) override;
  Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedTo(
      const arrow::Buffer& buffer, const ManagerPtr& to) override;
  Result<BufferPtr> ViewBufferFrom(const BufferPtr& buffer, const ManagerPtr& from) override;
  Result<BufferPtr> ViewBufferTo(const BufferPtr& buffer, const ManagerPtr& to) override;

 private:
  const Handle<RustContext> context_;
  const ContextIdentity identity_;
};

}  // namespace arrow_cuda
