#include "copies/arrays.h"

#include <utility>

#include "border/calls.h"
#include "copies/buffers.h"
#include "copies/distinct_buffers.h"
#include "c_data/null_count.h"
#include "memory/device.h"
#include "memory/on_device.h"

namespace arrow_cuda {

Result<Trimmed> Prepare(const ArrayDataVector& arrays, const ManagerPtr& to,
                        const RustStream* stream) {
  ARROW_ASSIGN_OR_RAISE(auto trimmed, Trim(arrays, to, stream));
  // libarrow would count the nulls of a copy on a device as if its bitmap were host memory.
  if (!to->is_cpu() && HasUncountedNulls(trimmed.arrays)) {
    // The nulls of data in device memory are read from there, once the stream has written it.
    if (stream != nullptr && IsOnDevice(trimmed.arrays)) {
      ARROW_RETURN_NOT_OK(Call(Rust().stream_synchronize, stream));
    }
    ARROW_RETURN_NOT_OK(CountNulls(trimmed.arrays));
  }
  return trimmed;
}

Result<Trimmed> PrepareOnHost(const ArrayDataVector& arrays, const ManagerPtr& to) {
  if (IsOnDevice(arrays)) return Trimmed{arrays, {}};
  ARROW_ASSIGN_OR_RAISE(auto prepared, Prepare(arrays, to, nullptr));
  const DistinctBuffers distinct(prepared.arrays);
  ARROW_RETURN_NOT_OK(WaitForAll(distinct.buffers(), nullptr));
  prepared.is_ready = true;
  return prepared;
}

Result<std::optional<ArrayDataVector>> CopyPrepared(const Trimmed& prepared, const ManagerPtr& to,
                                                    const RustStream* stream) {
  Order order{stream, nullptr};
  if (stream != nullptr) {
    order.owner = std::make_shared<const ArrayDataVector>(prepared.arrays);
  }
  const DistinctBuffers distinct(prepared.arrays);
  const auto copy = prepared.is_ready && IsCuda(*to) ? CopyHostBuffers : CopyBuffers;
  ARROW_ASSIGN_OR_RAISE(auto copies, copy(distinct.buffers(), to, order));
  if (!copies.has_value()) return std::nullopt;
  auto copied = distinct.Replaced(prepared.arrays, *std::move(copies));
  ARROW_RETURN_NOT_OK(LowerOffsets(copied, prepared.bases, to));
  return copied;
}

BatchPtr BatchOfCopies(const arrow::RecordBatch& batch, ArrayDataVector::const_iterator first) {
  ArrayDataVector columns(first, first + batch.num_columns());
  // As libarrow's own copy says it: the place of the first column.
  const auto place =
      columns.empty() ? arrow::DeviceAllocationType::kCPU : columns.front()->device_type();
  return arrow::RecordBatch::Make(batch.schema(), batch.num_rows(), std::move(columns), place);
}

Result<ArrayDataVector> CopyAnyhow(const Trimmed& prepared, const ManagerPtr& to,
                                   const RustStream* stream) {
  ARROW_ASSIGN_OR_RAISE(auto copies, CopyPrepared(prepared, to, stream));
  if (copies.has_value()) return *std::move(copies);
  copies.emplace();
  for (const auto& array : prepared.arrays) {
    ARROW_ASSIGN_OR_RAISE(auto copy, array->CopyTo(to));
    copies->push_back(std::move(copy));
  }
  return *std::move(copies);
}

}  // namespace arrow_cuda
