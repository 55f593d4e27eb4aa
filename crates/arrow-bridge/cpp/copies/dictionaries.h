// Dictionaries of arrays on a device.
#pragma once

#include <memory>

#include "arrow/array/data.h"
#include "arrow/device.h"
#include "arrow/result.h"

namespace arrow_cuda {

// Arrays of one type with the same dictionaries, also of those within them: where the dictionaries differ,
// copies with new indices of one that has the values of all.
arrow::Result<arrow::ArrayDataVector> WithOneDictionary(
    arrow::ArrayDataVector arrays, const std::shared_ptr<arrow::MemoryManager>& manager);

}  // namespace arrow_cuda
