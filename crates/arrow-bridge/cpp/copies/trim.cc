#include "copies/trim.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/type.h"
#include "border/calls.h"
#include "copies/buffers.h"
#include "memory/memory_manager.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayData;
using arrow::Status;
using arrow::Type;
using BufferPtr = std::shared_ptr<arrow::Buffer>;
using DataPtr = std::shared_ptr<ArrayData>;

// Buffers may have as many bytes more than their arrays need.
constexpr uint64_t kPadding = 64;

std::pair<Layout, uint64_t> LayoutOf(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::NA:
      return {Layout::kNull, 0};
    case Type::BOOL:
      return {Layout::kBits, 0};
    case Type::STRING:
    case Type::BINARY:
      return {Layout::kBinary, 4};
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return {Layout::kBinary, 8};
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return {Layout::kBinaryView, 0};
    case Type::LIST:
    case Type::MAP:
      return {Layout::kList, 4};
    case Type::LARGE_LIST:
      return {Layout::kList, 8};
    case Type::LIST_VIEW:
      return {Layout::kListView, 4};
    case Type::LARGE_LIST_VIEW:
      return {Layout::kListView, 8};
    case Type::FIXED_SIZE_LIST:
      return {Layout::kFixedSizeList, static_cast<const arrow::FixedSizeListType&>(type).list_size()};
    case Type::STRUCT:
      return {Layout::kStruct, 0};
    case Type::SPARSE_UNION:
      return {Layout::kSparseUnion, 0};
    case Type::DENSE_UNION:
      return {Layout::kDenseUnion, 0};
    case Type::RUN_END_ENCODED:
      return {Layout::kRunEndEncoded, 0};
    default:
      // Others have values of one width; those of a dictionary are its indices.
      return {Layout::kFixed, std::max(type.byte_width(), 0)};
  }
}

// Arrays as Rust sees them, which is one after the other, with the arrays within each.
class Tree {
 public:
  explicit Tree(const arrow::ArrayDataVector& arrays) {
    for (const auto& array : arrays) Add(*array);
  }

  std::vector<ArrayNode> nodes;
  // Those that an array lacks are null.
  std::vector<const BufferPtr*> buffers;

 private:
  void Add(const ArrayData& data) {
    const auto [layout, width] = LayoutOf(StorageOf(*data.type));
    const size_t first = buffers.size();
    const bool has_validity = !data.buffers.empty() && data.buffers[0] != nullptr;
    for (size_t number = has_validity ? 0 : 1; number < data.buffers.size(); ++number) {
      buffers.push_back(&data.buffers[number]);
    }
    nodes.push_back({layout, has_validity, data.dictionary != nullptr,
                     static_cast<uint32_t>(data.child_data.size()),
                     static_cast<uint32_t>(buffers.size() - first), width,
                     static_cast<uint64_t>(data.length), static_cast<uint64_t>(data.offset)});
    for (const auto& child : data.child_data) Add(*child);
    if (data.dictionary != nullptr) Add(*data.dictionary);
  }
};

uint64_t SizeOf(const BufferPtr& buffer) {
  return buffer == nullptr ? 0 : static_cast<uint64_t>(buffer->size());
}

// The bytes that copies of these ranges of the buffers take, of which equal ones are copied once.
uint64_t BytesOf(const std::vector<const BufferPtr*>& buffers, const std::vector<ByteRange>& ranges) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (size_t number = 0; number < buffers.size(); ++number) {
    if (ranges[number].size == 0) continue;
    found.emplace_back((*buffers[number])->address() + ranges[number].start, ranges[number].size);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  uint64_t bytes = 0;
  for (const auto& [address, size] : found) bytes += size;
  return bytes;
}

// Whether the ranges are much less than all of the buffers.  Chunks that share memory may reach much
// of it twice.
bool IsWorthIt(const Tree& tree, const std::vector<uint64_t>& sizes,
               const std::vector<ByteRange>& ranges) {
  uint64_t most = 0;
  std::vector<ByteRange> whole;
  for (size_t number = 0; number < sizes.size(); ++number) {
    most = std::max(most, sizes[number] - ranges[number].size);
    whole.push_back({0, sizes[number]});
  }
  if (most <= kPadding) return false;
  const uint64_t bytes = BytesOf(tree.buffers, ranges);
  return bytes + bytes / 20 < BytesOf(tree.buffers, whole);
}

// Offsets of a tree, read for Rust.
struct Reader {
  const Tree& tree;
  const RustStream* stream;

  static Failure Read(void* state, const Wanted* wanted, size_t count, uint64_t* out) noexcept {
    return Guard([&] { return static_cast<Reader*>(state)->ReadAll(wanted, count, out); });
  }

  Status ReadAll(const Wanted* wanted, size_t count, uint64_t* out) const {
    std::vector<BufferPtr> parts;
    std::vector<const arrow::Buffer*> sources;
    for (size_t number = 0; number < count; ++number) {
      const auto& [buffer, position, width] = wanted[number];
      parts.push_back(arrow::SliceBuffer(*tree.buffers[buffer], static_cast<int64_t>(position),
                                         static_cast<int64_t>(width)));
      sources.push_back(parts.back().get());
    }
    const auto host = arrow::default_cpu_memory_manager();
    ARROW_ASSIGN_OR_RAISE(const auto copies, CopyBuffers(sources, host, {stream, nullptr}));
    for (size_t number = 0; number < count; ++number) {
      // Pinned memory may be written by a device.
      if (!copies.has_value()) ARROW_RETURN_NOT_OK(WaitUntilReady(*sources[number]));
      const auto* bytes = copies.has_value() ? (*copies)[number]->data() : sources[number]->data();
      out[number] = OffsetAt(bytes, wanted[number].width);
    }
    return Status::OK();
  }

  static uint64_t OffsetAt(const uint8_t* bytes, uint64_t width) {
    int32_t narrow = 0;
    int64_t wide = 0;
    if (width == sizeof(narrow)) {
      std::memcpy(&narrow, bytes, sizeof(narrow));
      wide = narrow;
    } else {
      std::memcpy(&wide, bytes, sizeof(wide));
    }
    return static_cast<uint64_t>(wide);
  }
};

arrow::Result<BufferPtr> Lowered(const arrow::Buffer& offsets, uint64_t width, uint64_t base,
                                 arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(BufferPtr lowered, arrow::AllocateBuffer(offsets.size(), pool));
  Rust().lower_offsets(offsets.data(), lowered->mutable_data(),
                       static_cast<size_t>(offsets.size()), width, base);
  return lowered;
}

// How many of `length` elements of the array are null, if that is known.
int64_t NullsAmong(const ArrayData& data, int64_t length) {
  const int64_t count = data.null_count.load();
  if (length == data.length || count == 0) return count;
  return count == data.length ? length : arrow::kUnknownNullCount;
}

// Arrays over the ranges that they reach, in the order of the tree.
class Parts {
 public:
  Parts(std::vector<Reached> reached, std::vector<ByteRange> ranges, bool may_lower)
      : reached_(std::move(reached)), ranges_(std::move(ranges)), may_lower_(may_lower) {}

  arrow::Result<DataPtr> Of(const ArrayData& data) {
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
    const auto [start, size] = ranges_[next_buffer_++];
    if (buffer == nullptr || size == SizeOf(buffer)) return buffer;
    return arrow::SliceBuffer(buffer, static_cast<int64_t>(start), static_cast<int64_t>(size));
  }

  const std::vector<Reached> reached_;
  const std::vector<ByteRange> ranges_;
  const bool may_lower_;
  size_t next_array_ = 0;
  size_t next_buffer_ = 0;
};

Status LowerWithin(const DataPtr& copy, std::vector<uint64_t>::const_iterator* next,
                   arrow::MemoryPool* pool) {
  if (const uint64_t base = *(*next)++; base > 0) {
    const auto width = LayoutOf(StorageOf(*copy->type)).second;
    ARROW_ASSIGN_OR_RAISE(copy->buffers[1], Lowered(*copy->buffers[1], width, base, pool));
  }
  for (const auto& child : copy->child_data) ARROW_RETURN_NOT_OK(LowerWithin(child, next, pool));
  if (copy->dictionary == nullptr) return Status::OK();
  return LowerWithin(copy->dictionary, next, pool);
}

// Queued copies do not wait for what writes the offsets.
Reads ReadsOf(bool is_from_device, const arrow::MemoryManager& to, const RustStream* stream) {
  if (to.is_cpu()) return Reads::kOfSlices;
  return is_from_device || stream != nullptr ? Reads::kNone : Reads::kAll;
}

}  // namespace

arrow::Result<Trimmed> Trim(const arrow::ArrayDataVector& arrays,
                            const std::shared_ptr<arrow::MemoryManager>& to,
                            const RustStream* stream) {
  const bool is_from_device = IsOnDevice(arrays);
  if (!is_from_device && !IsCuda(*to)) return Trimmed{arrays, {}};
  const Tree tree(arrays);
  std::vector<uint64_t> sizes;
  sizes.reserve(tree.buffers.size());
  for (const auto* buffer : tree.buffers) sizes.push_back(SizeOf(*buffer));
  Reader reader{tree, stream};
  const auto reads = ReadsOf(is_from_device, *to, stream);
  std::vector<Reached> reached(tree.nodes.size());
  std::vector<ByteRange> ranges(sizes.size());
  ARROW_ASSIGN_OR_RAISE(
      const bool is_slice, Call(Rust().reach, tree.nodes.data(), tree.nodes.size(), sizes.data(),
                                sizes.size(), reads, OffsetReader{&reader, Reader::Read},
                                reached.data(), ranges.data()));
  if (!is_slice || !IsWorthIt(tree, sizes, ranges)) return Trimmed{arrays, {}};
  Trimmed trimmed;
  if (is_from_device) {
    for (const auto& each : reached) trimmed.bases.push_back(each.base);
  }
  Parts parts(std::move(reached), std::move(ranges), !is_from_device);
  for (const auto& array : arrays) {
    ARROW_ASSIGN_OR_RAISE(auto part, parts.Of(*array));
    trimmed.arrays.push_back(std::move(part));
  }
  return trimmed;
}

Status LowerOffsets(const arrow::ArrayDataVector& copies, const std::vector<uint64_t>& bases,
                    const std::shared_ptr<arrow::MemoryManager>& to) {
  const auto* host = dynamic_cast<const arrow::CPUMemoryManager*>(to.get());
  if (bases.empty() || host == nullptr) return Status::OK();
  auto next = bases.begin();
  for (const auto& copy : copies) ARROW_RETURN_NOT_OK(LowerWithin(copy, &next, host->pool()));
  return Status::OK();
}

}  // namespace arrow_cuda
