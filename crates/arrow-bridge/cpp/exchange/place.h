// Where data lies, as a stream of the C Device interface has to say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arrow/array/data.h"
#include "arrow/c/abi.h"
#include "arrow/result.h"

namespace arrow_cuda {

struct Place {
  ArrowDeviceType type = ARROW_DEVICE_CPU;
  int64_t device = -1;

  bool operator==(const Place&) const = default;

  // For messages.
  std::string ToString() const;
};

// The place of all memory of the data; none if it has no bytes.  Fails if it has several.
arrow::Result<std::optional<Place>> PlaceOf(const arrow::ArrayDataVector& columns);

}  // namespace arrow_cuda
