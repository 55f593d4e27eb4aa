#include "c_data/alignment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/type.h"
#include "copies/buffers.h"
#include "copies/tree.h"
#include "memory/device.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// Kernels load bitmaps in words of four bytes.
constexpr uint64_t kOfBitmaps = 4;
// The widest load of a GPU, in bytes, and that of the numbers within an interval.
constexpr uint64_t kMost = 16;
constexpr uint64_t kOfIntervals = 8;

// The alignment of a type's values, each of `width` bytes.
uint64_t AlignmentOfValues(const DataType& type, uint64_t width) {
  if (type.id() == Type::FIXED_SIZE_BINARY || width == 0) return 1;
  if (type.id() == Type::INTERVAL_MONTH_DAY_NANO) return kOfIntervals;
  return std::min(width & (~width + 1), kMost);
}

// The alignment that the address of a buffer needs.
uint64_t AlignmentOf(const DataType& type, size_t buffer) {
  if (buffer == 0) return kOfBitmaps;
  const auto [layout, width] = LayoutOf(type);
  switch (layout) {
    case Layout::kBits:
      return kOfBitmaps;
    case Layout::kFixed:
      return AlignmentOfValues(type, width);
    case Layout::kBinaryView:
      return buffer == 1 ? kMost : 1;
    case Layout::kBinary:
    case Layout::kList:
      return buffer == 1 ? width : 1;
    case Layout::kListView:
      return width;
    case Layout::kDenseUnion:
      return buffer == 2 ? sizeof(int32_t) : 1;
    default:
      return 1;
  }
}

bool IsMisaligned(const DataType& type, size_t number, const BufferPtr& buffer) {
  // Nearly every address is a multiple of this.
  return buffer != nullptr && buffer->address() % kMost != 0 && buffer->size() > 0 &&
         buffer->address() % AlignmentOf(type, number) != 0 && IsOnDevice(*buffer);
}

template <typename Visit>
bool AnyMisaligned(const ArrayData& data, const Visit& visit) {
  return AnyWithin(data, [&](const ArrayData& part) {
    const auto& type = StorageOf(*part.type);
    for (size_t number = 0; number < part.buffers.size(); ++number) {
      const auto& buffer = part.buffers[number];
      if (IsMisaligned(type, number, buffer) && visit(buffer)) return true;
    }
    return false;
  });
}

using Copies = std::unordered_map<const arrow::Buffer*, BufferPtr>;

DataPtr Replaced(const ArrayData& data, const Copies& copies) {
  auto copy = std::make_shared<ArrayData>(data);
  for (auto& buffer : copy->buffers) {
    const auto found = copies.find(buffer.get());
    if (found != copies.end()) buffer = found->second;
  }
  for (auto& child : copy->child_data) {
    if (child != nullptr) child = Replaced(*child, copies);
  }
  if (copy->dictionary != nullptr) copy->dictionary = Replaced(*copy->dictionary, copies);
  return copy;
}

}  // namespace

bool IsAligned(const ArrayDataVector& columns) {
  const auto is_any = [](const auto& column) {
    return AnyMisaligned(*column, [](const auto&) { return true; });
  };
  return std::ranges::none_of(columns, is_any);
}

Result<bool> Align(ArrayDataVector* columns) {
  Copies copies;
  for (const auto& column : *columns) {
    AnyMisaligned(*column, [&](const auto& buffer) {
      copies.emplace(buffer.get(), nullptr);
      return false;
    });
  }
  if (copies.empty()) return false;
  for (auto& [buffer, copy] : copies) {
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(NumberOf(*buffer)));
    ARROW_ASSIGN_OR_RAISE(auto made, CopyBuffers({buffer}, manager, {}));
    if (!made.has_value()) return Status::Invalid("a buffer does not lie on a device");
    copy = std::move(made->front());
  }
  for (auto& column : *columns) column = Replaced(*column, copies);
  return true;
}

}  // namespace arrow_cuda
