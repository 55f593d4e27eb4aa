// Empty buffers, which libarrow makes on the host, for arrays whose other buffers are elsewhere.
#pragma once

#include <memory>
#include <optional>

#include "arrow/array/data.h"
#include "arrow/device.h"
#include "arrow/result.h"

namespace arrow_cuda {

// Where an array's memory lies.
struct Home {
  std::shared_ptr<arrow::MemoryManager> manager;
  arrow::DeviceAllocationType type;
};

// That of the first buffer that is not plain host memory; none when there is no such buffer.
std::optional<Home> HomeOf(const arrow::ArrayDataVector& columns);

// The same data with empty buffers of `home` in place of those on the host, or null where there is
// none.  Offsets of no values at all are there as well: C Device consumers want the first one.
arrow::Result<std::shared_ptr<arrow::ArrayData>> WithoutHostBuffers(const arrow::ArrayData& data,
                                                                    const Home& home);

}  // namespace arrow_cuda
