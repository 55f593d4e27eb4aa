// One arrow::Device per GPU, with the events of libarrow's device interface and a memory manager for each
// of its contexts: after a reset, the device has a new primary context.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "border/rust.h"

namespace arrow_cuda {

class MemoryManager;

class Device : public arrow::Device {
 public:
  class SyncEvent;

  // The only instance for this GPU; fails for a number that no GPU has.
  static Result<std::shared_ptr<Device>> Get(int64_t number);

  // Whether any was made: without one, libarrow has no data in device memory.
  static bool HasAny();

  int32_t number() const { return number_; }

  const char* type_name() const override;
  std::string ToString() const override;
  bool Equals(const arrow::Device& other) const override;
  int64_t device_id() const override { return number_; }
  arrow::DeviceAllocationType device_type() const override {
    return arrow::DeviceAllocationType::kCUDA;
  }
  // The manager of the primary context.  Without one, that of an earlier context, which fails when it is used.
  ManagerPtr default_memory_manager() override;

  Result<ManagerPtr> Manager();
  // The manager of a context's memory: the primary context's, for a context of another library.
  Result<ManagerPtr> ManagerOf(const RustContext* context);

 private:
  Device(int32_t number, std::string name) : number_(number), name_(std::move(name)) {}

  const int32_t number_;
  const std::string name_;
  std::mutex mutex_;
  // The newest last.  Device and manager own each other, on purpose: both live until the process ends.
  std::vector<std::shared_ptr<MemoryManager>> managers_;
};

bool IsCuda(const arrow::MemoryManager& manager);

// The context of a manager of device memory, else null.
const RustContext* ContextOf(const arrow::MemoryManager& manager);

// The manager of the primary context; fails for a number that no GPU has.
Result<ManagerPtr> ManagerOfDevice(int64_t number);

class Device::SyncEvent : public arrow::Device::SyncEvent {
 public:
  // `event` is null where `place` is.
  SyncEvent(Handle<RustEvent> event, void* place, release_fn_t release)
      : arrow::Device::SyncEvent(place, std::move(release)), event_(std::move(event)) {}

  // The event whose handle its producer has stored at `place`, null for none.
  static Result<EventPtr> Wrap(const RustContext* context, void* place, release_fn_t release);

  const RustEvent* rust() const { return event_.get(); }

  Status Wait() override;
  Status Record(const arrow::Device::Stream& stream) override;

 private:
  const Handle<RustEvent> event_;
};

}  // namespace arrow_cuda
