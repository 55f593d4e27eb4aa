#include "c_data/null_count.h"

#include <algorithm>
#include <vector>

#include "arrow/util/bitmap_ops.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "border/calls.h"

namespace arrow_cuda {
namespace {

// Bitmaps are copied in pieces of this many bytes.
constexpr int64_t kPiece = int64_t{1} << 20;

bool IsUncounted(const ArrayData& data) {
  return data.null_count == arrow::kUnknownNullCount && !data.buffers.empty() &&
         data.buffers[0] != nullptr;
}

}  // namespace

Result<int64_t> CountZeros(const arrow::Buffer& bitmap, int64_t offset, int64_t length) {
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
    ARROW_RETURN_NOT_OK(Call(Rust().copy_to_host, memory.get(), first, piece.data(), bytes));
    ones += arrow::internal::CountSetBits(piece.data(), bit % 8, bits);
    bit += bits;
  }
  return length - ones;
}

bool HasUncountedNulls(const ArrayDataVector& arrays) {
  const auto is_any = [](const auto& array) { return AnyWithin(*array, IsUncounted); };
  return std::ranges::any_of(arrays, is_any);
}

Status CountNulls(const ArrayDataVector& arrays) {
  Status status;
  const auto fails = [&](const ArrayData& part) {
    if (!IsUncounted(part)) return false;
    // Stored where libarrow caches it; concurrent counts store the same number.
    const auto nulls = CountZeros(*part.buffers[0], part.offset, part.length);
    if (nulls.ok()) part.null_count = *nulls;
    status = nulls.status();
    return !status.ok();
  };
  for (const auto& array : arrays) {
    if (AnyWithin(*array, fails)) break;
  }
  return status;
}

}  // namespace arrow_cuda
