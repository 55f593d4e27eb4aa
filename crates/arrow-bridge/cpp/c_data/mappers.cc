#include "c_data/mappers.h"

#include <algorithm>
#include <utility>

#include "arrow/memory_pool.h"
#include "memory/device.h"

namespace arrow_cuda {
namespace {

using arrow::DeviceAllocationType;

// The CPU reads pinned memory without synchronisation, so the import waits for GPU work that still
// writes to it.
class PinnedManager : public arrow::CPUMemoryManager {
 public:
  explicit PinnedManager(int64_t device_id)
      : arrow::CPUMemoryManager(arrow::CPUDevice::Instance(), arrow::default_memory_pool()),
        device_id_(device_id) {}

  Result<EventPtr> WrapDeviceSyncEvent(
      void* event, arrow::Device::SyncEvent::release_fn_t release) override {
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device_id_));
    ARROW_ASSIGN_OR_RAISE(auto wrapped,
                          Device::SyncEvent::Wrap(ContextOf(*manager), event, std::move(release)));
    ARROW_RETURN_NOT_OK(wrapped->Wait());
    return wrapped;
  }

 private:
  const int64_t device_id_;
};

// Pinned memory belongs to no particular device; libarrow itself exports it with device -1.
Result<ManagerPtr> PinnedManagerOf(int64_t device_id) {
  return std::make_shared<PinnedManager>(std::max<int64_t>(device_id, 0));
}

Status Register(DeviceAllocationType type, arrow::DeviceMapper mapper) {
  const Status status = arrow::RegisterDeviceMapper(type, std::move(mapper));
  // A mapper that is registered already serves as well.
  return status.IsKeyError() ? Status::OK() : status;
}

}  // namespace

Status RegisterMappers() {
  ARROW_RETURN_NOT_OK(Register(DeviceAllocationType::kCUDA, ManagerOfDevice));
  // Managed memory is a GPU's as well; it migrates when another processor touches it.
  ARROW_RETURN_NOT_OK(Register(DeviceAllocationType::kCUDA_MANAGED, ManagerOfDevice));
  return Register(DeviceAllocationType::kCUDA_HOST, PinnedManagerOf);
}

}  // namespace arrow_cuda
