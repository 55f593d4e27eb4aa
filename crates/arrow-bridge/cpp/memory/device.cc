#include "memory/device.h"

#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "border/calls.h"
#include "memory/identity.h"
#include "memory/memory_manager.h"

namespace arrow_cuda {
namespace {

// The name of upstream's class, which other libraries compare.
constexpr char kTypeName[] = "arrow::cuda::CudaDevice";

std::atomic<bool> has_any = false;

}  // namespace

bool Device::HasAny() { return has_any.load(std::memory_order_relaxed); }

Result<std::shared_ptr<Device>> Device::Get(int64_t number) {
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    return Status::Invalid("Invalid Cuda device number ", number);
  }
  // Never destroyed: buffers may outlive the static objects of this library.
  static auto& mutex = *new std::mutex;
  static auto& devices = *new std::map<int32_t, std::shared_ptr<Device>>;
  const auto key = static_cast<int32_t>(number);
  {
    std::lock_guard lock(mutex);
    const auto found = devices.find(key);
    if (found != devices.end()) return found->second;
  }
  // Calls Rust without the lock, so that a slow driver start blocks no other thread.
  char name[1024] = "";
  ARROW_RETURN_NOT_OK(Call(Rust().device_name, key, name, sizeof(name)));
  std::shared_ptr<Device> device(new Device(key, name));
  std::lock_guard lock(mutex);
  const auto [place, _] = devices.try_emplace(key, std::move(device));
  has_any = true;
  return place->second;
}

ManagerPtr Device::default_memory_manager() {
  const auto manager = Manager();
  if (manager.ok()) return *manager;
  std::lock_guard lock(mutex_);
  return managers_.empty() ? nullptr : managers_.back();
}

Result<ManagerPtr> Device::Manager() {
  ARROW_ASSIGN_OR_RAISE(const auto primary, Call(Rust().context_primary, number_));
  return ManagerOf(primary.get());
}

Result<ManagerPtr> Device::ManagerOf(const RustContext* context) {
  const auto identity = IdentityOf(*context);
  std::unique_lock lock(mutex_);
  for (const auto& manager : managers_) {
    if (manager->identity() == identity) return manager;
  }
  if (!Rust().context_is_primary(context)) {
    lock.unlock();
    return Manager();
  }
  // Those that nobody uses are of contexts that are gone.
  std::erase_if(managers_, [](const auto& manager) { return manager.use_count() == 1; });
  auto self = std::static_pointer_cast<Device>(shared_from_this());
  Handle<RustContext> owned(Rust().context_clone(context));
  managers_.push_back(std::make_shared<MemoryManager>(std::move(self), std::move(owned)));
  return managers_.back();
}

const char* Device::type_name() const { return kTypeName; }

std::string Device::ToString() const {
  return "CudaDevice(device_number=" + std::to_string(number_) + ", name=\"" + name_ + "\")";
}

bool Device::Equals(const arrow::Device& other) const {
  return std::strcmp(other.type_name(), kTypeName) == 0 && other.device_id() == number_;
}

bool IsCuda(const arrow::MemoryManager& manager) {
  return !manager.is_cpu() &&
         manager.device()->device_type() == arrow::DeviceAllocationType::kCUDA;
}

Result<ManagerPtr> ManagerOfDevice(int64_t number) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(number));
  return device->Manager();
}

const RustContext* ContextOf(const arrow::MemoryManager& manager) {
  if (manager.is_cpu()) return nullptr;
  const auto* ours = dynamic_cast<const MemoryManager*>(&manager);
  return ours == nullptr ? nullptr : ours->context();
}

Result<EventPtr> Device::SyncEvent::Wrap(const RustContext* context, void* place, release_fn_t release) {
  if (!release) release = [](void*) {};
  Handle<RustEvent> event;
  if (place != nullptr) {
    ARROW_ASSIGN_OR_RAISE(event, Call(Rust().event_wrap, context, static_cast<void**>(place)));
  }
  return std::make_shared<SyncEvent>(std::move(event), place, std::move(release));
}

Status Device::SyncEvent::Wait() {
  // Without an event there is nothing to wait for.
  if (rust() == nullptr) return Status::OK();
  return Call(Rust().event_wait, rust());
}

// This library makes no streams of libarrow's.
Status Device::SyncEvent::Record(const arrow::Device::Stream&) {
  return Status::Invalid("A CUDA event can only be recorded on a CUDA stream");
}

}  // namespace arrow_cuda
