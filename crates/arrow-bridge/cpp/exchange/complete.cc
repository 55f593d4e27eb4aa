#include "exchange/complete.h"

#include <algorithm>
#include <utility>

#include "arrow/array/util.h"
#include "exchange/null_count.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayDataVector;
using ArrayPtr = std::shared_ptr<arrow::Array>;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

// Moves all empty buffers to `home`, and returns whether there were any.  Creating an offset there
// waits for the default stream's work.
arrow::Result<bool> Move(const Home& home, ArrayDataVector* columns) {
  bool changed = false;
  for (auto& column : *columns) {
    ARROW_ASSIGN_OR_RAISE(auto data, WithoutHostBuffers(*column, home));
    if (data == nullptr) continue;
    column = std::move(data);
    changed = true;
  }
  return changed;
}

ArrayDataVector ColumnsOf(const arrow::Array& array) { return {array.data()}; }
const ArrayDataVector& ColumnsOf(const arrow::RecordBatch& batch) { return batch.column_data(); }

template <typename Data>
arrow::Result<Data> Completed(const Data& data) {
  const auto& columns = ColumnsOf(*data);
  ARROW_RETURN_NOT_OK(CountNulls(columns));
  return AtHome(data, HomeOf(columns).value_or(OnHost()));
}

}  // namespace

bool IsExportable(const ArrayDataVector& columns) {
  return !HasUncountedNulls(columns) && !HomeOf(columns).has_value() &&
         std::none_of(columns.begin(), columns.end(), [](const auto& column) {
           return NeedsBuffers(*column, OnHost());
         });
}

arrow::Result<ArrayPtr> Exportable(const ArrayPtr& data) { return Completed(data); }

arrow::Result<BatchPtr> Exportable(const BatchPtr& data) { return Completed(data); }

arrow::Result<ArrayPtr> AtHome(const ArrayPtr& data, const Home& home) {
  ArrayDataVector columns{data->data()};
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(home, &columns));
  if (!changed) return data;
  return arrow::MakeArray(columns.front());
}

arrow::Result<BatchPtr> AtHome(const BatchPtr& data, const Home& home) {
  auto columns = data->column_data();
  ARROW_ASSIGN_OR_RAISE(const bool changed, Move(home, &columns));
  if (!changed) return data;
  return arrow::RecordBatch::Make(data->schema(), data->num_rows(), std::move(columns), home.type,
                                  data->GetSyncEvent());
}

}  // namespace arrow_cuda
