// One arrow::Device per GPU, with the streams and events of libarrow's device interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrow/device.h"

namespace arrow_cuda {

class Device : public arrow::Device {
 public:
  class Stream;
  class SyncEvent;

  // The only instance for this GPU; fails for a number that is no GPU's.
  static arrow::Result<std::shared_ptr<Device>> Get(int64_t number);

  int32_t number() const { return number_; }

  const char* type_name() const override;
  std::string ToString() const override;
  bool Equals(const arrow::Device& other) const override;
  int64_t device_id() const override { return number_; }
  arrow::DeviceAllocationType device_type() const override {
    return arrow::DeviceAllocationType::kCUDA;
  }
  std::shared_ptr<arrow::MemoryManager> default_memory_manager() override {
    return memory_manager_;
  }

  arrow::Result<std::shared_ptr<arrow::Device::Stream>> MakeStream() override;
  arrow::Result<std::shared_ptr<arrow::Device::Stream>> MakeStream(unsigned int flags) override;
  // `stream` is a CUstream*, null for the default stream.
  arrow::Result<std::shared_ptr<arrow::Device::Stream>> WrapStream(
      void* stream, arrow::Device::Stream::release_fn_t release) override;

 private:
  Device(int32_t number, std::string name) : number_(number), name_(std::move(name)) {}

  const int32_t number_;
  const std::string name_;
  // The two hold each other, on purpose: both live until the process ends.
  std::shared_ptr<arrow::MemoryManager> memory_manager_;
};

// Whether memory that this manager manages is a GPU's.
bool IsCuda(const arrow::MemoryManager& manager);

// A CUstream behind a pointer, as the C Device interface has it.
class Device::Stream : public arrow::Device::Stream {
 public:
  Stream(int32_t device, void** stream, release_fn_t release)
      : arrow::Device::Stream(stream, std::move(release)), device_(device) {}

  void* handle() const {
    return stream_ == nullptr ? nullptr : *static_cast<void**>(stream_.get());
  }

  arrow::Status WaitEvent(const arrow::Device::SyncEvent& event) override;
  arrow::Status Synchronize() const override;

 private:
  const int32_t device_;
};

// A CUevent behind a pointer.
class Device::SyncEvent : public arrow::Device::SyncEvent {
 public:
  // `event` is null, or the place of a live CUevent.
  SyncEvent(int32_t device, void** event, release_fn_t release)
      : arrow::Device::SyncEvent(event, std::move(release)),
        device_(device),
        handle_(event == nullptr ? nullptr : *event) {}

  // The event that somebody else has put at `place`, null for none.
  static arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Wrap(int32_t device, void* place,
                                                                       release_fn_t release);

  // A new event, destroyed with the object.
  static arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> Make(int32_t device);

  void* handle() const { return handle_; }
  // Where the handle was found.
  void* place() const { return sync_event_.get(); }

  arrow::Status Wait() override;
  arrow::Status Record(const arrow::Device::Stream& stream) override;

 private:
  const int32_t device_;
  void* const handle_;
};

}  // namespace arrow_cuda
