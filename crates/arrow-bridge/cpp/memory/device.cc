#include "memory/device.h"

#include <cstring>

#include "border/calls.h"

namespace arrow_cuda {
namespace {

// The name of upstream's class, which other libraries compare.
constexpr char kTypeName[] = "arrow::cuda::CudaDevice";

}  // namespace

const char* Device::type_name() const { return kTypeName; }

std::string Device::ToString() const {
  return "CudaDevice(device_number=" + std::to_string(number_) + ", name=\"" + name_ + "\")";
}

bool Device::Equals(const arrow::Device& other) const {
  return std::strcmp(other.type_name(), kTypeName) == 0 && other.device_id() == number_;
}

Result<std::shared_ptr<arrow::Device::Stream>> Device::MakeStream() {
  return MakeStream(0);
}

Result<std::shared_ptr<arrow::Device::Stream>> Device::MakeStream(unsigned int flags) {
  ARROW_ASSIGN_OR_RAISE(auto stream, Call(Rust().stream_create, number_, flags));
  void* place = Rust().stream_place(stream.get());
  return std::make_shared<Stream>(std::move(stream), place, [](void*) {});
}

Result<std::shared_ptr<arrow::Device::Stream>> Device::WrapStream(
    void* place, arrow::Device::Stream::release_fn_t release) {
  if (!release) release = [](void*) {};
  ARROW_ASSIGN_OR_RAISE(auto stream,
                        Call(Rust().stream_wrap, number_, static_cast<void**>(place)));
  return std::make_shared<Stream>(std::move(stream), place, std::move(release));
}

bool IsCuda(const arrow::MemoryManager& manager) {
  return !manager.is_cpu() &&
         manager.device()->device_type() == arrow::DeviceAllocationType::kCUDA;
}

Status Device::Stream::WaitEvent(const arrow::Device::SyncEvent& event) {
  const auto* ours = dynamic_cast<const Device::SyncEvent*>(&event);
  if (ours == nullptr || ours->rust() == nullptr) {
    return Status::Invalid("A CUDA stream can only wait for a CUDA event");
  }
  return Call(Rust().stream_wait_event, rust(), ours->rust());
}

Status Device::Stream::Synchronize() const {
  return Call(Rust().stream_synchronize, rust());
}

Result<EventPtr> Device::SyncEvent::Make(int32_t device) {
  ARROW_ASSIGN_OR_RAISE(auto event, Call(Rust().event_create, device));
  void* place = Rust().event_place(event.get());
  return std::make_shared<SyncEvent>(std::move(event), place, [](void*) {});
}

Result<EventPtr> Device::SyncEvent::Wrap(int32_t device, void* place, release_fn_t release) {
  if (!release) release = [](void*) {};
  Handle<RustEvent> event;
  if (place != nullptr) {
    ARROW_ASSIGN_OR_RAISE(event, Call(Rust().event_wrap, device, static_cast<void**>(place)));
  }
  return std::make_shared<SyncEvent>(std::move(event), place, std::move(release));
}

Status Device::SyncEvent::Wait() {
  // Without an event there is nothing to wait for.
  if (rust() == nullptr) return Status::OK();
  return Call(Rust().event_wait, rust());
}

Status Device::SyncEvent::Record(const arrow::Device::Stream& stream) {
  const auto* ours = dynamic_cast<const Device::Stream*>(&stream);
  if (ours == nullptr || rust() == nullptr) {
    return Status::Invalid("A CUDA event can only be recorded on a CUDA stream");
  }
  return Call(Rust().event_record, rust(), ours->rust());
}

}  // namespace arrow_cuda
