#include "copies/distinct_buffers.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "memory/identity.h"
#include "memory/resolve.h"
#include "memory/slab.h"
#include "memory/traverse.h"

namespace arrow_cuda {
namespace {

// Whether two buffers are the same memory, ready at the same time.  Chunks that another library has
// exported one by one share memory, but no objects.
bool AreSame(const arrow::Buffer& a, const arrow::Buffer& b) {
  return &a == &b || (a.size() > 0 && IsSameMemory(a, b) && a.device_type() == b.device_type() &&
                      EventOf(a) == EventOf(b));
}

// Numbers the memory of buffers from 0 on, in the order of the first request.  A map of the standard
// library would allocate memory for each.
class Numbers {
 public:
  explicit Numbers(size_t count)
      : slots_(std::bit_ceil(2 * (count + 1))), shift_(64 - std::countr_zero(slots_.size())) {}

  size_t Of(const arrow::Buffer* buffer) {
    // Buffers of no bytes may all have one address.
    const auto key = buffer->size() > 0 ? buffer->address() : reinterpret_cast<uintptr_t>(buffer);
    // The upper bits of the product depend on all bits of the address.
    auto at = static_cast<size_t>((key * uint64_t{0x9E3779B97F4A7C15}) >> shift_);
    while (slots_[at].buffer != nullptr && !AreSame(*slots_[at].buffer, *buffer)) {
      at = (at + 1) % slots_.size();
    }
    if (slots_[at].buffer == nullptr) slots_[at] = {buffer, next_++};
    return slots_[at].number;
  }

 private:
  struct Slot {
    const arrow::Buffer* buffer = nullptr;
    size_t number = 0;
  };

  std::vector<Slot> slots_;
  const int shift_;
  size_t next_ = 0;
};

class Replacement {
 public:
  Replacement(const std::vector<size_t>& references, std::vector<BufferPtr> copies, size_t arrays)
      : next_(references.begin()),
        is_distinct_(copies.size() == references.size()),
        copies_(std::move(copies)),
        slab_(arrays) {}

  // To be called once for each array, in the order of `AnyWithin`.
  DataPtr Of(const ArrayData& data) {
    auto copy = slab_.Make(data.type, data.length, data.null_count, data.offset);
    copy->buffers.reserve(data.buffers.size());
    for (const auto& buffer : data.buffers) {
      copy->buffers.push_back(buffer == nullptr ? nullptr : Next());
    }
    copy->child_data.reserve(data.child_data.size());
    for (const auto& child : data.child_data) {
      copy->child_data.push_back(child == nullptr ? nullptr : Of(*child));
    }
    if (data.dictionary != nullptr) copy->dictionary = Of(*data.dictionary);
    return copy;
  }

 private:
  // The copy that the next reference is to.
  BufferPtr Next() {
    auto& copy = copies_[*next_++];
    return is_distinct_ ? std::move(copy) : copy;
  }

  std::vector<size_t>::const_iterator next_;
  const bool is_distinct_;
  std::vector<BufferPtr> copies_;
  Slab<ArrayData> slab_;
};

}  // namespace

DistinctBuffers::DistinctBuffers(const ArrayDataVector& arrays) {
  buffers_.reserve(2 * arrays.size());
  for (const auto& array : arrays) {
    AnyWithin(*array, [&](const ArrayData& part) {
      ++arrays_;
      for (const auto& buffer : part.buffers) {
        if (buffer != nullptr) buffers_.push_back(buffer.get());
      }
      return false;
    });
  }
  Numbers numbers(buffers_.size());
  references_.reserve(buffers_.size());
  size_t distinct = 0;
  for (const auto* buffer : buffers_) {
    references_.push_back(numbers.Of(buffer));
    if (references_.back() == distinct) buffers_[distinct++] = buffer;
  }
  buffers_.resize(distinct);
}

ArrayDataVector DistinctBuffers::Replaced(const ArrayDataVector& arrays,
                                          std::vector<BufferPtr> copies) const {
  Replacement replacement(references_, std::move(copies), arrays_);
  ArrayDataVector replaced;
  replaced.reserve(arrays.size());
  for (const auto& array : arrays) replaced.push_back(replacement.Of(*array));
  return replaced;
}

}  // namespace arrow_cuda
