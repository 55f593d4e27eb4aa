// Reduces arrays to the parts of their buffers that they reach, so that a copy of a slice does not copy the
// whole array.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/record_batch.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

struct Trimmed {
  ArrayDataVector arrays;
  // For each array, and then those within it, what its offsets count too much; empty if they are right.
  std::vector<uint64_t> bases;
  // Whether all memory is the host's, and written.
  bool is_ready = false;
};

// The arrays to copy in place of these to the memory of `to`: parts of the same memory, or these
// themselves where that is hardly more.  Copies to the host read offsets once the stream has come to
// them.  Copies to a device read none on a stream: what these lead to stays whole.
Result<Trimmed> Trim(const ArrayDataVector& arrays, const ManagerPtr& to, const RustStream* stream);

// The batch on the host to write in place of this one to a message: libarrow would write all of the data that
// views lead to.
Result<BatchPtr> TrimForMessage(const BatchPtr& batch);

Status LowerOffsets(const ArrayDataVector& copies, const std::vector<uint64_t>& bases,
                    const ManagerPtr& to);

}  // namespace arrow_cuda
