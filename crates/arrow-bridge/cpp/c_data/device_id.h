// The device that data lies on, as the C Device interface identifies it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arrow/array/data.h"
#include "arrow/c/abi.h"
#include "border/names.h"

namespace arrow_cuda {

struct DeviceId {
  ArrowDeviceType type = ARROW_DEVICE_CPU;
  int64_t device = -1;

  bool operator==(const DeviceId&) const = default;

  // For messages.
  std::string ToString() const;
};

// The device of all memory of the data; none if it has no bytes.  Fails if there are several.
Result<std::optional<DeviceId>> DeviceIdOf(const ArrayDataVector& columns);

}  // namespace arrow_cuda
