#include "copies/arrays.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "border/calls.h"
#include "copies/buffers.h"
#include "exchange/null_count.h"
#include "memory/device.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "memory/slab.h"

namespace arrow_cuda {
namespace {

// Whether two buffers are the same memory, ready at the same time.  Chunks that another library has
// exported one by one share memory, but no objects.
bool AreSame(const arrow::Buffer& a, const arrow::Buffer& b) {
  return &a == &b || (a.size() > 0 && a.size() == b.size() && a.address() == b.address() &&
                      a.device_type() == b.device_type() && EventOf(a) == EventOf(b));
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

class Collection {
 public:
  explicit Collection(const ArrayDataVector& arrays) {
    buffers_.reserve(2 * arrays.size());
    for (const auto& array : arrays) Add(*array);
    Numbers numbers(buffers_.size());
    references_.reserve(buffers_.size());
    size_t distinct = 0;
    for (const auto* buffer : buffers_) {
      references_.push_back(numbers.Of(buffer));
      if (references_.back() == distinct) buffers_[distinct++] = buffer;
    }
    buffers_.resize(distinct);
  }

  // A buffer for each memory, in the order in which the arrays first refer to it.
  const std::vector<const arrow::Buffer*>& buffers() const { return buffers_; }

  // Which of them each reference is to, in the order of `Add`.
  const std::vector<size_t>& references() const { return references_; }

  // Whether no two references are to the same memory.
  bool is_distinct() const { return buffers_.size() == references_.size(); }

  size_t arrays() const { return arrays_; }

 private:
  void Add(const ArrayData& data) {
    ++arrays_;
    for (const auto& buffer : data.buffers) {
      if (buffer != nullptr) buffers_.push_back(buffer.get());
    }
    for (const auto& child : data.child_data) {
      if (child != nullptr) Add(*child);
    }
    if (data.dictionary != nullptr) Add(*data.dictionary);
  }

  std::vector<const arrow::Buffer*> buffers_;
  std::vector<size_t> references_;
  size_t arrays_ = 0;
};

class Replacement {
 public:
  Replacement(const Collection& collection, std::vector<BufferPtr> copies)
      : next_(collection.references().begin()),
        is_distinct_(collection.is_distinct()),
        copies_(std::move(copies)),
        slab_(collection.arrays()) {}

  // To be called once for each array, in the order of `Collection::Add`.
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

// Null counts of data in device memory are read from there, once the stream has written it.
Status AwaitBitmaps(const ArrayDataVector& arrays, const RustStream* stream) {
  if (stream == nullptr || !IsOnDevice(arrays)) return Status::OK();
  return Call(Rust().stream_synchronize, stream);
}

}  // namespace

Result<Trimmed> Prepare(const ArrayDataVector& arrays, const ManagerPtr& to,
                        const RustStream* stream) {
  ARROW_ASSIGN_OR_RAISE(auto trimmed, Trim(arrays, to, stream));
  // libarrow would count the nulls of a copy on a device as if its bitmap were host memory.
  if (!to->is_cpu() && HasUncountedNulls(trimmed.arrays)) {
    ARROW_RETURN_NOT_OK(AwaitBitmaps(trimmed.arrays, stream));
    ARROW_RETURN_NOT_OK(CountNulls(trimmed.arrays));
  }
  return trimmed;
}

Result<Trimmed> PrepareOnHost(const ArrayDataVector& arrays, const ManagerPtr& to) {
  if (IsOnDevice(arrays)) return Trimmed{arrays, {}};
  ARROW_ASSIGN_OR_RAISE(auto prepared, Prepare(arrays, to, nullptr));
  const Collection collection(prepared.arrays);
  ARROW_RETURN_NOT_OK(WaitForAll(collection.buffers(), nullptr));
  prepared.is_ready = true;
  return prepared;
}

Result<std::optional<ArrayDataVector>> CopyPrepared(const Trimmed& prepared, const ManagerPtr& to,
                                                    const RustStream* stream) {
  Order order{stream, nullptr};
  if (stream != nullptr) {
    order.owner = std::make_shared<const ArrayDataVector>(prepared.arrays);
  }
  const auto copy = [&](const auto& buffers) {
    return prepared.is_ready && IsCuda(*to) ? CopyHostBuffers(buffers, to, order)
                                            : CopyBuffers(buffers, to, order);
  };
  ARROW_ASSIGN_OR_RAISE(auto copied, WithBuffers(prepared.arrays, copy));
  if (copied.has_value()) ARROW_RETURN_NOT_OK(LowerOffsets(*copied, prepared.bases, to));
  return copied;
}

Result<std::optional<ArrayDataVector>> WithBuffers(
    const ArrayDataVector& arrays, const MakeBuffers& make) {
  const Collection collection(arrays);
  ARROW_ASSIGN_OR_RAISE(auto made, make(collection.buffers()));
  if (!made.has_value()) return std::nullopt;
  Replacement replacement(collection, *std::move(made));
  ArrayDataVector replaced;
  replaced.reserve(arrays.size());
  for (const auto& array : arrays) replaced.push_back(replacement.Of(*array));
  return replaced;
}

Result<std::optional<ArrayDataVector>> CopyArrays(const ArrayDataVector& arrays,
                                                  const ManagerPtr& to, const RustStream* stream) {
  ARROW_ASSIGN_OR_RAISE(const auto prepared, Prepare(arrays, to, stream));
  return CopyPrepared(prepared, to, stream);
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
