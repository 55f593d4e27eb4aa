#include "c_data/device_id.h"

#include "memory/resolve.h"
#include "memory/traverse.h"

namespace arrow_cuda {
namespace {

DeviceId DeviceIdOf(const arrow::Buffer& buffer) {
  // libarrow's mutable slices of device memory report that they lie on the host.
  if (buffer.is_cpu() && IsOnDevice(buffer)) return {ARROW_DEVICE_CUDA, NumberOf(buffer)};
  return {static_cast<ArrowDeviceType>(buffer.device_type()), buffer.device()->device_id()};
}

}  // namespace

std::string DeviceId::ToString() const {
  switch (type) {
    case ARROW_DEVICE_CPU:
      return "the host";
    case ARROW_DEVICE_CUDA_HOST:
      return "the host, in pinned memory";
    case ARROW_DEVICE_CUDA:
    case ARROW_DEVICE_CUDA_MANAGED:
      return "CUDA device " + std::to_string(device);
    default:
      return "device " + std::to_string(device) + " of type " + std::to_string(type);
  }
}

Result<std::optional<DeviceId>> DeviceIdOf(const ArrayDataVector& columns) {
  std::optional<DeviceId> common;
  for (const auto& column : columns) {
    const auto* other = FindBuffer(*column, [&](const arrow::Buffer& buffer) {
      if (buffer.size() == 0) return false;
      if (!common.has_value()) common = DeviceIdOf(buffer);
      return *common != DeviceIdOf(buffer);
    });
    if (other != nullptr) {
      return Status::Invalid("part of the data lies on ", common->ToString(), ", part on ",
                             DeviceIdOf(*other).ToString(),
                             ": copy_to() brings all of it to one device");
    }
  }
  return common;
}

}  // namespace arrow_cuda
