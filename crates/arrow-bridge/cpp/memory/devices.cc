// The GPUs that libarrow was given, each with its memory manager.
#include <atomic>
#include <limits>
#include <map>
#include <mutex>

#include "border/calls.h"
#include "memory/device.h"
#include "memory/memory_manager.h"

namespace arrow_cuda {
namespace {

using DeviceMap = std::map<int32_t, std::shared_ptr<Device>>;

// Never destroyed: buffers may outlive the static objects of this library.
DeviceMap& Devices() {
  static auto* devices = new DeviceMap;
  return *devices;
}

std::mutex& DevicesMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::atomic<bool> has_any = false;

}  // namespace

bool Device::HasAny() { return has_any.load(std::memory_order_relaxed); }

Result<std::shared_ptr<Device>> Device::Get(int64_t number) {
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    return Status::Invalid("Invalid Cuda device number ", number);
  }
  const auto key = static_cast<int32_t>(number);
  {
    std::lock_guard lock(DevicesMutex());
    const auto found = Devices().find(key);
    if (found != Devices().end()) return found->second;
  }
  // Calls Rust without the lock, so that a slow driver start blocks no other thread.
  char name[1024] = "";
  ARROW_RETURN_NOT_OK(Call(Rust().device_name, key, name, sizeof(name)));
  std::shared_ptr<Device> device(new Device(key, name));
  device->memory_manager_ = std::make_shared<MemoryManager>(device);
  std::lock_guard lock(DevicesMutex());
  const auto [place, inserted] = Devices().try_emplace(key, device);
  has_any = true;
  // Another thread was first: break the reference cycle of the unused device.
  if (!inserted) device->memory_manager_.reset();
  return place->second;
}

}  // namespace arrow_cuda
