#include "messages/offsets.h"

#include <cstdint>

#include "arrow/buffer.h"
#include "arrow/type.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// `count` values of a buffer from `offset` on, null when it is shorter.
template <typename T>
const T* Values(const ArrayData& data, size_t index, int64_t offset, int64_t count) {
  const auto& buffer = data.buffers[index];
  const auto size = static_cast<int64_t>(sizeof(T));
  if (buffer == nullptr || buffer->size() / size < offset + count) return nullptr;
  return reinterpret_cast<const T*>(buffer->data()) + offset;
}

// One array, which is written from `offset` on: an offset into its buffers, like the array's own.
class Part {
 public:
  Part(const ArrayData& data, int64_t offset, int64_t length, int depth)
      : data_(data), offset_(offset), length_(length), depth_(depth) {}

  Status Check() const {
    if (offset_ < data_.offset || length_ < 0 ||
        length_ > data_.length - (offset_ - data_.offset)) {
      return OffsetsLeadOutside();
    }
    if (depth_ > kMaxDepth || data_.child_data.empty()) return Status::OK();
    const auto& type = StorageOf(*data_.type);
    switch (type.id()) {
      case Type::LIST:
      case Type::MAP:
        return CheckList<int32_t>();
      case Type::LARGE_LIST:
        return CheckList<int64_t>();
      case Type::LIST_VIEW:
        return CheckViews<int32_t>();
      case Type::LARGE_LIST_VIEW:
        return CheckViews<int64_t>();
      case Type::FIXED_SIZE_LIST:
        return CheckChildren(static_cast<const arrow::FixedSizeListType&>(type).list_size());
      case Type::STRUCT:
      case Type::SPARSE_UNION:
        return CheckChildren(1);
      case Type::DENSE_UNION:
        return CheckUnion(static_cast<const arrow::UnionType&>(type));
      case Type::RUN_END_ENCODED:
        return CheckRunEnds(data_.child_data[0]->type->id());
      default:
        return CheckWholeChildren();
    }
  }

 private:
  Status CheckChild(const ArrayData& child, int64_t first, int64_t length) const {
    return Part(child, child.offset + first, length, depth_ + 1).Check();
  }

  // As libarrow sees it, which believes a count of 0 whatever the bitmap says.
  bool IsNull(int64_t i) const {
    if (!data_.MayHaveNulls()) return false;
    const auto* bits = Values<uint8_t>(data_, 0, (offset_ + i) / 8, 1);
    return bits != nullptr && (*bits >> ((offset_ + i) % 8) & 1) == 0;
  }

  // Each value has this many values of each child.
  Status CheckChildren(int64_t width) const {
    for (const auto& child : data_.child_data) {
      ARROW_RETURN_NOT_OK(CheckChild(*child, offset_ * width, length_ * width));
    }
    return Status::OK();
  }

  Status CheckWholeChildren() const {
    for (const auto& child : data_.child_data) {
      ARROW_RETURN_NOT_OK(CheckChild(*child, 0, child->length));
    }
    return Status::OK();
  }

  template <typename Offset>
  Status CheckList() const {
    const auto* offsets = Values<Offset>(data_, 1, offset_, length_ + 1);
    // An empty list array may have no offsets.
    if (offsets == nullptr) return length_ == 0 ? Status::OK() : OffsetsLeadOutside();
    const ArrayData& child = *data_.child_data[0];
    // libarrow slices no child without values for an array that begins at its first offset.
    if (offset_ == 0 && length_ == 0 && child.length == 0) return CheckChild(child, 0, 0);
    const int64_t first = offsets[0];
    const int64_t last = offsets[length_];
    if (first < 0 || last < first || last > child.length) return OffsetsLeadOutside();
    return CheckChild(child, first, last - first);
  }

  template <typename Offset>
  Status CheckViews() const {
    const auto* offsets = Values<Offset>(data_, 1, offset_, length_);
    const auto* sizes = Values<Offset>(data_, 2, offset_, length_);
    if (length_ > 0 && (offsets == nullptr || sizes == nullptr)) return OffsetsLeadOutside();
    const int64_t available = data_.child_data[0]->length;
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t first = offsets[i];
      const int64_t size = sizes[i];
      // The offset of an empty value is never followed.
      if (size == 0 || IsNull(i)) continue;
      if (size < 0 || first < 0 || first > available || size > available - first) {
        return OffsetsLeadOutside();
      }
    }
    return CheckWholeChildren();
  }

  Status CheckUnion(const arrow::UnionType& type) const {
    const auto* ids = Values<int8_t>(data_, 1, offset_, length_);
    const auto* offsets = Values<int32_t>(data_, 2, offset_, length_);
    if (length_ > 0 && (ids == nullptr || offsets == nullptr)) return OffsetsLeadOutside();
    const auto& children = type.child_ids();
    for (int64_t i = 0; i < length_; ++i) {
      const int child = ids[i] < 0 ? -1 : children[static_cast<size_t>(ids[i])];
      if (child < 0 || offsets[i] < 0 ||
          offsets[i] >= data_.child_data[static_cast<size_t>(child)]->length) {
        return OffsetsLeadOutside();
      }
    }
    return CheckWholeChildren();
  }

  Status CheckRunEnds(Type::type id) const {
    switch (id) {
      case Type::INT16:
        return CheckRuns<int16_t>();
      case Type::INT32:
        return CheckRuns<int32_t>();
      default:
        return CheckRuns<int64_t>();
    }
  }

  // libarrow looks the first and the last run up by their ends.
  template <typename End>
  Status CheckRuns() const {
    const ArrayData& runs = *data_.child_data[0];
    const auto* ends = Values<End>(runs, 1, runs.offset, runs.length);
    if (ends == nullptr && runs.length > 0) return OffsetsLeadOutside();
    int64_t last = 0;
    for (int64_t i = 0; i < runs.length; ++i) {
      if (ends[i] <= last) return OffsetsLeadOutside();
      last = ends[i];
    }
    if (last < offset_ + length_) return OffsetsLeadOutside();
    return CheckWholeChildren();
  }

  const ArrayData& data_;
  const int64_t offset_;
  const int64_t length_;
  const int depth_;
};

}  // namespace

Status CheckOffsets(const ArrayData& data) {
  return Part(data, data.offset, data.length, 0).Check();
}

Status OffsetsLeadOutside() {
  return Status::Invalid("the offsets of a column lead outside its data");
}

}  // namespace arrow_cuda
