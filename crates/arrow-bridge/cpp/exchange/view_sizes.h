// The sizes of the buffers that views lead to, in structures of the C Device interface.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/c/abi.h"
#include "border/names.h"

namespace arrow_cuda {

// libarrow reads the sizes on the host, and some producers have them on the device, as all else.
// Those are replaced by copies until the structure, whose parts the views are, is released.
Status CopySizesToHost(const std::vector<ArrowArray*>& views, int32_t device,
                       ArrowArray* structure);

}  // namespace arrow_cuda
