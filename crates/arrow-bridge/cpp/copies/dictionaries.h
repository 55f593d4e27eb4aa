// Dictionaries of arrays on a device.
#pragma once

#include "arrow/array/data.h"
#include "border/names.h"

namespace arrow_cuda {

// Arrays of one type with the same dictionaries, also of those within them: where the dictionaries differ,
// copies with new indices of one that has the values of all.
Result<ArrayDataVector> WithOneDictionary(ArrayDataVector arrays, const ManagerPtr& manager);

}  // namespace arrow_cuda
