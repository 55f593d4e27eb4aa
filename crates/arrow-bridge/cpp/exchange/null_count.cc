#include "exchange/null_count.h"

#include <algorithm>
#include <vector>

#include "arrow/util/bitmap_ops.h"
#include "memory/resolve.h"
#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayData;
using arrow::Status;

// Bitmaps are copied in pieces of this many bytes.
constexpr int64_t kPiece = int64_t{1} << 20;

bool IsUncounted(const ArrayData& data) {
  return data.null_count == arrow::kUnknownNullCount && !data.buffers.empty() &&
         data.buffers[0] != nullptr;
}

}  // namespace

arrow::Result<int64_t> CountZeros(const arrow::Buffer& bitmap, int64_t offset, int64_t length) {
  int64_t end = 0;
  if (offset < 0 || length < 0 || __builtin_add_overflow(offset, length, &end) ||
      end / 8 + (end % 8 != 0) > bitmap.size()) {
    return Status::Invalid("a validity bitmap of ", bitmap.size(), " bytes is too short for ",
                           length, " values from ", offset, " on");
  }
  if (bitmap.is_cpu() && !IsOnDevice(bitmap)) {
    return length - arrow::internal::CountSetBits(bitmap.data(), offset, length);
  }
  ARROW_RETURN_NOT_OK(WaitUntilReady(bitmap));
  ARROW_ASSIGN_OR_RAISE(const auto memory, Borrowed::From(bitmap));
  std::vector<uint8_t> piece;
  int64_t ones = 0;
  for (int64_t bit = offset; bit < end;) {
    const int64_t first = bit / 8;
    const int64_t bytes = std::min(end / 8 + (end % 8 != 0) - first, kPiece);
    const int64_t bits = std::min((first + bytes) * 8, end) - bit;
    piece.resize(static_cast<size_t>(bytes));
    ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
      return Rust().copy_to_host(memory.get(), first, piece.data(), bytes, failure);
    }));
    ones += arrow::internal::CountSetBits(piece.data(), bit % 8, bits);
    bit += bits;
  }
  return length - ones;
}

bool HasUncountedNulls(const ArrayData& data) {
  return IsUncounted(data) ||
         std::any_of(data.child_data.begin(), data.child_data.end(),
                     [](const auto& child) { return child && HasUncountedNulls(*child); }) ||
         (data.dictionary != nullptr && HasUncountedNulls(*data.dictionary));
}

bool HasUncountedNulls(const arrow::ArrayDataVector& arrays) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const auto& array) { return HasUncountedNulls(*array); });
}

Status CountNulls(const ArrayData& data) {
  if (IsUncounted(data)) {
    // Stored where libarrow caches it; concurrent counts store the same number.
    ARROW_ASSIGN_OR_RAISE(data.null_count, CountZeros(*data.buffers[0], data.offset, data.length));
  }
  for (const auto& child : data.child_data) {
    if (child != nullptr) ARROW_RETURN_NOT_OK(CountNulls(*child));
  }
  return data.dictionary == nullptr ? Status::OK() : CountNulls(*data.dictionary);
}

Status CountNulls(const arrow::ArrayDataVector& arrays) {
  for (const auto& array : arrays) ARROW_RETURN_NOT_OK(CountNulls(*array));
  return Status::OK();
}

}  // namespace arrow_cuda
