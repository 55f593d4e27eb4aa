#include "copies/trim.h"

#include <algorithm>
#include <map>
#include <utility>

#include "arrow/buffer.h"
#include "border/calls.h"
#include "copies/rust_buffers.h"
#include "copies/tree.h"
#include "memory/memory_manager.h"
#include "memory/on_device.h"
#include "memory/traverse.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// Buffers may have as many bytes more than their arrays need.
constexpr uint64_t kPadding = 64;

// Whether the ranges are much less than all of the buffers.  Chunks that share memory may reach much
// of it twice.
bool IsWorthIt(const Tree& tree, const std::vector<ByteRange>& ranges) {
  uint64_t most = 0;
  std::vector<ByteRange> whole;
  for (size_t number = 0; number < tree.sizes.size(); ++number) {
    most = std::max(most, tree.sizes[number] - ranges[number].size);
    whole.push_back({0, tree.sizes[number]});
  }
  if (most <= kPadding) return false;
  const uint64_t bytes = BytesOf(tree.buffers, ranges);
  return bytes + bytes / 20 < BytesOf(tree.buffers, whole);
}

Result<BufferPtr> Lowered(const arrow::Buffer& offsets, uint64_t width, uint64_t base,
                          arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(BufferPtr lowered, arrow::AllocateBuffer(offsets.size(), pool));
  Rust().lower_offsets(offsets.data(), lowered->mutable_data(),
                       static_cast<size_t>(offsets.size()), width, base);
  return lowered;
}

int64_t NullsAmong(const ArrayData& data, int64_t length) {
  const int64_t count = data.null_count.load();
  if (length == data.length || count == 0) return count;
  return count == data.length ? length : arrow::kUnknownNullCount;
}

// Arrays over the ranges that they reach, in the order of the tree.
class Parts {
 public:
  Parts(std::vector<Reached> reached, std::vector<ByteRange> ranges,
        std::map<size_t, BufferPtr> replaced, bool may_lower)
      : reached_(std::move(reached)),
        ranges_(std::move(ranges)),
        replaced_(std::move(replaced)),
        may_lower_(may_lower) {}

  Result<DataPtr> Of(const ArrayData& data) {
    const auto [offset, length, base] = reached_[next_array_++];
    auto part = std::make_shared<ArrayData>(
        data.type, static_cast<int64_t>(length), NullsAmong(data, static_cast<int64_t>(length)),
        static_cast<int64_t>(offset));
    for (size_t number = 0; number < data.buffers.size(); ++number) {
      const auto& buffer = data.buffers[number];
      part->buffers.push_back(buffer == nullptr && number == 0 ? nullptr : Next(buffer));
    }
    if (base > 0 && may_lower_) {
      const auto width = LayoutOf(StorageOf(*data.type)).second;
      ARROW_ASSIGN_OR_RAISE(part->buffers[1], Lowered(*part->buffers[1], width, base,
                                                      arrow::default_memory_pool()));
    }
    for (const auto& child : data.child_data) {
      ARROW_ASSIGN_OR_RAISE(auto inner, Of(*child));
      part->child_data.push_back(std::move(inner));
    }
    if (data.dictionary != nullptr) {
      ARROW_ASSIGN_OR_RAISE(part->dictionary, Of(*data.dictionary));
    }
    return part;
  }

 private:
  BufferPtr Next(const BufferPtr& buffer) {
    const size_t number = next_buffer_++;
    const auto replaced = replaced_.find(number);
    if (replaced != replaced_.end()) return replaced->second;
    const auto [start, size] = ranges_[number];
    if (buffer == nullptr || size == static_cast<uint64_t>(buffer->size())) return buffer;
    return arrow::SliceBuffer(buffer, static_cast<int64_t>(start), static_cast<int64_t>(size));
  }

  const std::vector<Reached> reached_;
  const std::vector<ByteRange> ranges_;
  const std::map<size_t, BufferPtr> replaced_;
  const bool may_lower_;
  size_t next_array_ = 0;
  size_t next_buffer_ = 0;
};

// Offsets that count `base` too much; or another buffer, whose base and width are 0.
struct Offsets {
  BufferPtr* buffer;
  uint64_t width;
  uint64_t base;
};

bool HasOffsets(const ArrayData& data) {
  const auto layout = LayoutOf(StorageOf(*data.type)).first;
  return (layout == Layout::kBinary || layout == Layout::kList) && data.buffers[1] != nullptr;
}

// Adds the buffers of a copy, and of the arrays within it.  Any may share memory with offsets that are lowered.
void Add(const DataPtr& copy, std::vector<uint64_t>::const_iterator* next,
         std::vector<Offsets>* all) {
  const uint64_t base = *(*next)++;
  const bool is_lowered = base > 0 && HasOffsets(*copy);
  for (size_t number = 0; number < copy->buffers.size(); ++number) {
    if (copy->buffers[number] == nullptr) continue;
    all->push_back({&copy->buffers[number], 0, 0});
    if (number == 1 && is_lowered) {
      all->back().width = LayoutOf(StorageOf(*copy->type)).second;
      all->back().base = base;
    }
  }
  for (const auto& child : copy->child_data) Add(child, next, all);
  if (copy->dictionary != nullptr) Add(copy->dictionary, next, all);
}

// Arrays that share memory share its copy, which is lowered once; to lower it by another base takes a copy of
// its own.
Status LowerOnDevice(const std::vector<Offsets>& all, const ManagerPtr& to) {
  std::map<const arrow::Buffer*, std::pair<uint64_t, uint64_t>> lowered;
  std::vector<const arrow::Buffer*> buffers;
  std::vector<uint64_t> widths, bases;
  for (const auto& [buffer, width, base] : all) {
    const auto by = std::make_pair(base, width);
    const auto [found, is_new] = lowered.emplace(buffer->get(), by);
    if (!is_new && found->second == by) continue;
    if (!is_new) {
      ARROW_ASSIGN_OR_RAISE(*buffer, arrow::Buffer::Copy(*buffer, to));
    }
    if (base == 0) continue;
    buffers.push_back(buffer->get());
    widths.push_back(width);
    bases.push_back(base);
  }
  ARROW_ASSIGN_OR_RAISE(const auto borrowed, BorrowedBuffers::From(buffers));
  return Call(Rust().change_numbers, borrowed.data(), widths.data(), bases.data(), nullptr,
              borrowed.size());
}

// Queued copies do not wait for what writes the offsets.
Reads ReadsOf(bool is_from_device, const arrow::MemoryManager& to, const RustStream* stream) {
  if (!to.is_cpu() && stream != nullptr) return Reads::kNone;
  return to.is_cpu() || is_from_device ? Reads::kOfSlices : Reads::kAll;
}

Result<Trimmed> TrimBy(Reads reads, const ArrayDataVector& arrays, bool is_from_device,
                       const RustStream* stream) {
  ARROW_ASSIGN_OR_RAISE(const Tree tree, Tree::Of(arrays));
  TreeReader reader(tree, stream);
  std::vector<Reached> reached(tree.nodes.size());
  std::vector<ByteRange> ranges(tree.sizes.size());
  ARROW_ASSIGN_OR_RAISE(
      const bool is_slice, Call(Rust().reach, tree.nodes.data(), tree.nodes.size(), tree.sizes.data(),
                                tree.sizes.size(), reads, reader.ForRust(), reached.data(),
                                ranges.data()));
  if (!is_slice || !IsWorthIt(tree, ranges)) return Trimmed{arrays, {}};
  Trimmed trimmed;
  if (is_from_device) {
    for (const auto& each : reached) trimmed.bases.push_back(each.base);
  }
  Parts parts(std::move(reached), std::move(ranges), reader.TakeReplaced(), !is_from_device);
  for (const auto& array : arrays) {
    ARROW_ASSIGN_OR_RAISE(auto part, parts.Of(*array));
    trimmed.arrays.push_back(std::move(part));
  }
  return trimmed;
}

}  // namespace

Result<Trimmed> Trim(const ArrayDataVector& arrays, const ManagerPtr& to,
                     const RustStream* stream) {
  const bool is_from_device = IsOnDevice(arrays);
  if (!is_from_device && !IsCuda(*to)) return Trimmed{arrays, {}};
  return TrimBy(ReadsOf(is_from_device, *to, stream), arrays, is_from_device, stream);
}

Result<BatchPtr> TrimForMessage(const BatchPtr& batch) {
  const auto is_it = [](const ArrayData& data) {
    const auto layout = LayoutOf(StorageOf(*data.type)).first;
    return layout == Layout::kBinaryView || layout == Layout::kListView ||
           layout == Layout::kDenseUnion;
  };
  const auto& columns = batch->column_data();
  const auto has_it = [&](const auto& column) { return AnyWithin(*column, is_it); };
  if (std::ranges::none_of(columns, has_it)) return batch;
  ARROW_ASSIGN_OR_RAISE(auto trimmed, TrimBy(Reads::kOfSlices, columns, false, nullptr));
  return arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), std::move(trimmed.arrays));
}

Status LowerOffsets(const ArrayDataVector& copies, const std::vector<uint64_t>& bases,
                    const ManagerPtr& to) {
  if (bases.empty()) return Status::OK();
  std::vector<Offsets> all;
  auto next = bases.begin();
  for (const auto& copy : copies) Add(copy, &next, &all);
  const auto* host = dynamic_cast<const arrow::CPUMemoryManager*>(to.get());
  if (host == nullptr) return LowerOnDevice(all, to);
  for (const auto& [buffer, width, base] : all) {
    if (base == 0) continue;
    ARROW_ASSIGN_OR_RAISE(*buffer, Lowered(**buffer, width, base, host->pool()));
  }
  return Status::OK();
}

}  // namespace arrow_cuda
