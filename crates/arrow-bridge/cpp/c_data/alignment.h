// Addresses that other libraries' kernels can load from: a fault there ends the context, with all that is in it.
#pragma once

#include "border/names.h"

namespace arrow_cuda {

// Whether all device memory of the columns begins at multiples of what is loaded from it.
bool IsAligned(const ArrayDataVector& columns);

// Replaces what does not with copies in its context.  Returns whether there was any.
Result<bool> Align(ArrayDataVector* columns);

}  // namespace arrow_cuda
