#include "entries/destination.h"

#include "pyarrow/objects.h"

namespace arrow_cuda {

arrow::Result<std::shared_ptr<arrow::MemoryManager>> Destination::Manager() const {
  if (object == nullptr) return nullptr;
  if (is_device) {
    const auto device = UnwrapDevice(object);
    if (device == nullptr) {
      return arrow::Status::TypeError("expected an initialised pyarrow.Device");
    }
    return device->default_memory_manager();
  }
  auto manager = UnwrapMemoryManager(object);
  if (manager == nullptr) {
    return arrow::Status::TypeError("expected an initialised pyarrow.MemoryManager");
  }
  return manager;
}

}  // namespace arrow_cuda
