#include "memory/device.h"

#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "memory/memory_manager.h"
#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {
namespace {

// The name of upstream's class, which other libraries compare.
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

std::atomic<bool> has_any = false;

}  // namespace

bool Device::HasAny() { return has_any.load(std::memory_order_relaxed); }

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
  // Calls Rust without the lock, so that a slow driver start blocks no other thread.
  char name[256] = "";
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    return Rust().device_name(key, name, sizeof(name), failure);
  }));
  std::shared_ptr<Device> device(new Device(key, std::string(name, strnlen(name, sizeof(name)))));
  device->memory_manager_ = std::make_shared<MemoryManager>(device);
  std::lock_guard lock(DevicesMutex());
  const auto [place, inserted] = Devices().try_emplace(key, device);
  has_any = true;
  // Another thread was first: break the reference cycle of the unused device.
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
  RustStream* made = nullptr;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    made = Rust().stream_create(number_, flags, failure);
    return made != nullptr;
  }));
  Handle<RustStream> stream(made);
  void* place = Rust().stream_place(made);
  return std::make_shared<Stream>(std::move(stream), place, [](void*) {});
}

arrow::Result<std::shared_ptr<arrow::Device::Stream>> Device::WrapStream(
    void* place, arrow::Device::Stream::release_fn_t release) {
  if (!release) release = [](void*) {};
  RustStream* wrapped = nullptr;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    wrapped = Rust().stream_wrap(number_, static_cast<void**>(place), failure);
    return wrapped != nullptr;
  }));
  Handle<RustStream> stream(wrapped);
  return std::make_shared<Stream>(std::move(stream), place, std::move(release));
}

bool IsCuda(const arrow::MemoryManager& manager) {
  return !manager.is_cpu() &&
         manager.device()->device_type() == arrow::DeviceAllocationType::kCUDA;
}

arrow::Status Device::Stream::WaitEvent(const arrow::Device::SyncEvent& event) {
  const auto* ours = dynamic_cast<const Device::SyncEvent*>(&event);
  if (ours == nullptr || ours->rust() == nullptr) {
    return arrow::Status::Invalid("A CUDA stream can only wait for a CUDA event");
  }
  return Try([&](Failure* failure) {
    return Rust().stream_wait_event(rust(), ours->rust(), failure);
  });
}

arrow::Status Device::Stream::Synchronize() const {
  return Try([&](Failure* failure) { return Rust().stream_synchronize(rust(), failure); });
}

arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Device::SyncEvent::Make(int32_t device) {
  RustEvent* made = nullptr;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    made = Rust().event_create(device, failure);
    return made != nullptr;
  }));
  Handle<RustEvent> event(made);
  void* place = Rust().event_place(made);
  return std::make_shared<SyncEvent>(std::move(event), place, [](void*) {});
}

arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Device::SyncEvent::Wrap(
    int32_t device, void* place, release_fn_t release) {
  if (!release) release = [](void*) {};
  Handle<RustEvent> event;
  if (place != nullptr) {
    ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
      event.reset(Rust().event_wrap(device, static_cast<void**>(place), failure));
      return event != nullptr;
    }));
  }
  return std::make_shared<SyncEvent>(std::move(event), place, std::move(release));
}

arrow::Status Device::SyncEvent::Wait() {
  // Without an event there is nothing to wait for.
  if (rust() == nullptr) return arrow::Status::OK();
  return Try([&](Failure* failure) { return Rust().event_wait(rust(), failure); });
}

arrow::Status Device::SyncEvent::Record(const arrow::Device::Stream& stream) {
  const auto* ours = dynamic_cast<const Device::Stream*>(&stream);
  if (ours == nullptr || rust() == nullptr) {
    return arrow::Status::Invalid("A CUDA event can only be recorded on a CUDA stream");
  }
  return Try(
      [&](Failure* failure) { return Rust().event_record(rust(), ours->rust(), failure); });
}

}  // namespace arrow_cuda
