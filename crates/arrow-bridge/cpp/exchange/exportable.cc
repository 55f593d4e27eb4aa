#include "exchange/exportable.h"

#include <algorithm>
#include <utility>

#include "arrow/array/util.h"
#include "exchange/null_count.h"
#include "memory/traverse.h"

namespace arrow_cuda {
namespace {

// Moves all empty buffers to `location`, and returns whether there were any.  Creating an offset there
// waits for the default stream's work.
Result<bool> Move(const Location& location, ArrayDataVector* columns) {
  bool changed = false;
  for (auto& column : *columns) {
    ARROW_ASSIGN_OR_RAISE(auto data, WithoutHostBuffers(*column, location));
    if (data == nullptr) continue;
    column = std::move(data);
    changed = true;
  }
  return changed;
}

template <typename Data>
Result<Data> Completed(const Data& data) {
  const auto& columns = ColumnsOf(*data);
  ARROW_RETURN_NOT_OK(CountNulls(columns));
  return WithEmptyBuffersAt(data, LocationOf(columns).value_or(HostLocation()));
}

}  // namespace

bool IsExportable(const ArrayDataVector& columns) {
  const Location location = LocationOf(columns).value_or(HostLocation());
  return !HasUncountedNulls(columns) &&
         std::none_of(columns.begin(), columns.end(), [&](const auto& column) {
           return NeedsBuffers(*column, location);
         });
}

Result<ArrayPtr> Exportable(const ArrayPtr& data) { return Completed(data); }

Result<BatchPtr> Exportable(const BatchPtr& data) { return Completed(data); }

Result<ArrayPtr> WithEmptyBuffersAt(const ArrayPtr& data, const Location& location) {
  ArrayDataVector columns{data->data()};
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(location, &columns));
  if (!changed) return data;
  return arrow::MakeArray(columns.front());
}

Result<BatchPtr> WithEmptyBuffersAt(const BatchPtr& data, const Location& location) {
  auto columns = data->column_data();
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(location, &columns));
  if (!changed) return data;
  return arrow::RecordBatch::Make(data->schema(), data->num_rows(), std::move(columns), location.type,
                                  data->GetSyncEvent());
}

}  // namespace arrow_cuda
