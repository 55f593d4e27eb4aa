#include "memory/device.h"

#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "memory/memory_manager.h"
#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {
namespace {

// The name that upstream's class has: other libraries compare it.
constexpr char kTypeName[] = "arrow::cuda::CudaDevice";

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

}  // namespace

arrow::Result<std::shared_ptr<Device>> Device::Get(int64_t number) {
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    return arrow::Status::Invalid("Invalid Cuda device number ", number);
  }
  const auto key = static_cast<int32_t>(number);
  {
    std::lock_guard lock(DevicesMutex());
    const auto found = Devices().find(key);
    if (found != Devices().end()) return found->second;
  }
  // Rust is asked without the lock, so that a slow driver start holds nobody else up.
  char name[256] = "";
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    return Rust().device_name(key, name, sizeof(name), failure);
  }));
  std::shared_ptr<Device> device(new Device(key, std::string(name, strnlen(name, sizeof(name)))));
  device->memory_manager_ = std::make_shared<MemoryManager>(device);
  std::lock_guard lock(DevicesMutex());
  const auto [place, inserted] = Devices().try_emplace(key, device);
  // Another thread was first: break the circle of the one that nobody will see.
  if (!inserted) device->memory_manager_.reset();
  return place->second;
}

const char* Device::type_name() const { return kTypeName; }

std::string Device::ToString() const {
  return "CudaDevice(device_number=" + std::to_string(number_) + ", name=\"" + name_ + "\")";
}

bool Device::Equals(const arrow::Device& other) const {
  return std::strcmp(other.type_name(), kTypeName) == 0 && other.device_id() == number_;
}

arrow::Result<std::shared_ptr<arrow::Device::Stream>> Device::MakeStream() {
  return MakeStream(0);
}

arrow::Result<std::shared_ptr<arrow::Device::Stream>> Device::MakeStream(unsigned int flags) {
  auto handle = std::make_unique<void*>(nullptr);
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    return Rust().stream_create(number_, flags, handle.get(), failure);
  }));
  auto release = [device = number_](void* stream) {
    std::unique_ptr<void*> handle(static_cast<void**>(stream));
    Rust().stream_destroy(device, *handle);
  };
  return std::make_shared<Stream>(number_, handle.release(), release);
}

arrow::Result<std::shared_ptr<arrow::Device::Stream>> Device::WrapStream(
    void* stream, arrow::Device::Stream::release_fn_t release) {
  if (!release) release = [](void*) {};
  return std::make_shared<Stream>(number_, static_cast<void**>(stream), std::move(release));
}

bool IsCuda(const arrow::MemoryManager& manager) {
  return manager.device()->device_type() == arrow::DeviceAllocationType::kCUDA;
}

arrow::Status Device::Stream::WaitEvent(const arrow::Device::SyncEvent& event) {
  const auto* ours = dynamic_cast<const Device::SyncEvent*>(&event);
  if (ours == nullptr || ours->handle() == nullptr) {
    return arrow::Status::Invalid("A CUDA stream can only wait for a CUDA event");
  }
  return Try([&](Failure* failure) {
    return Rust().stream_wait_event(device_, handle(), ours->handle(), failure);
  });
}

arrow::Status Device::Stream::Synchronize() const {
  return Try(
      [&](Failure* failure) { return Rust().stream_synchronize(device_, handle(), failure); });
}

arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Device::SyncEvent::Make(int32_t device) {
  auto handle = std::make_unique<void*>(nullptr);
  ARROW_RETURN_NOT_OK(Try(
      [&](Failure* failure) { return Rust().event_create(device, handle.get(), failure); }));
  auto release = [device](void* event) {
    std::unique_ptr<void*> handle(static_cast<void**>(event));
    Rust().event_destroy(device, *handle);
  };
  return std::make_shared<SyncEvent>(device, handle.release(), release);
}

arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Device::SyncEvent::Wrap(
    int32_t device, void* place, release_fn_t release) {
  auto* event = static_cast<void**>(place);
  if (event != nullptr) {
    void* handle = nullptr;
    ARROW_RETURN_NOT_OK(
        Try([&](Failure* failure) { return Rust().event_at(event, &handle, failure); }));
  }
  if (!release) release = [](void*) {};
  return std::make_shared<SyncEvent>(device, event, std::move(release));
}

arrow::Status Device::SyncEvent::Wait() {
  // An event that was never given has nothing to wait for.
  if (handle() == nullptr) return arrow::Status::OK();
  return Try([&](Failure* failure) { return Rust().event_wait(device_, handle(), failure); });
}

arrow::Status Device::SyncEvent::Record(const arrow::Device::Stream& stream) {
  const auto* ours = dynamic_cast<const Device::Stream*>(&stream);
  if (ours == nullptr || handle() == nullptr) {
    return arrow::Status::Invalid("A CUDA event can only be recorded on a CUDA stream");
  }
  return Try([&](Failure* failure) {
    return Rust().event_record(device_, handle(), ours->handle(), failure);
  });
}

}  // namespace arrow_cuda
