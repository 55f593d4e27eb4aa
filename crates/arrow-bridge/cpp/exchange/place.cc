#include "exchange/place.h"

#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

Place PlaceOf(const arrow::Buffer& buffer) {
  // libarrow's mutable slices of device memory report that they lie on the host.
  if (buffer.is_cpu() && IsOnDevice(buffer)) return {ARROW_DEVICE_CUDA, NumberOf(buffer)};
  return {static_cast<ArrowDeviceType>(buffer.device_type()), buffer.device()->device_id()};
}

Status Add(const arrow::ArrayData& data, std::optional<Place>* place) {
  for (const auto& buffer : data.buffers) {
    if (buffer == nullptr || buffer->size() == 0) continue;
    const auto of_buffer = PlaceOf(*buffer);
    if (!place->has_value()) *place = of_buffer;
    if (**place != of_buffer) {
      return Status::Invalid("part of the data lies on ", (*place)->ToString(), ", part on ",
                             of_buffer.ToString(), ": copy_to() brings all of it to one device");
    }
  }
  for (const auto& child : data.child_data) {
    if (child != nullptr) ARROW_RETURN_NOT_OK(Add(*child, place));
  }
  return data.dictionary == nullptr ? Status::OK() : Add(*data.dictionary, place);
}

}  // namespace

std::string Place::ToString() const {
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

arrow::Result<std::optional<Place>> PlaceOf(const arrow::ArrayDataVector& columns) {
  std::optional<Place> place;
  for (const auto& column : columns) ARROW_RETURN_NOT_OK(Add(*column, &place));
  return place;
}

}  // namespace arrow_cuda
