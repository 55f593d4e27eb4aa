#include "copies/tree.h"

#include <algorithm>
#include <tuple>

#include "arrow/type.h"
#include "arrow/util/ubsan.h"
#include "border/status.h"
#include "copies/buffers.h"
#include "memory/identity.h"
#include "memory/resolve.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// The data of views is trimmed if a slice has at most this fraction of the elements, or if the elements take at
// most that fraction of all bytes.  Else reading them takes much longer than a copy of all data.
constexpr uint64_t kOfElements = 8;
constexpr uint64_t kOfBytes = 1024;

template <typename T>
void Widen(const uint8_t* bytes, uint64_t count, uint64_t* out) {
  for (uint64_t number = 0; number < count; ++number) {
    const int64_t wide = arrow::util::SafeLoadAs<T>(bytes + number * sizeof(T));
    out[number] = static_cast<uint64_t>(wide);
  }
}

void WidenAll(const uint8_t* bytes, const Wanted& wanted, uint64_t* out) {
  switch (wanted.width) {
    case sizeof(int8_t):
      return Widen<int8_t>(bytes, wanted.count, out);
    case sizeof(int16_t):
      return Widen<int16_t>(bytes, wanted.count, out);
    case sizeof(int32_t):
      return Widen<int32_t>(bytes, wanted.count, out);
    default:
      return Widen<int64_t>(bytes, wanted.count, out);
  }
}

}  // namespace

std::pair<Layout, uint64_t> LayoutOf(const DataType& type) {
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

Result<Tree> Tree::Of(const ArrayDataVector& arrays) {
  Tree tree;
  for (const auto& array : arrays) ARROW_RETURN_NOT_OK(tree.Add(*array));
  return tree;
}

Status Tree::Add(const ArrayData& data, uint8_t type_id) {
  const auto& type = StorageOf(*data.type);
  const auto [layout, width] = LayoutOf(type);
  const size_t first = buffers.size();
  const bool has_validity = !data.buffers.empty() && data.buffers[0] != nullptr;
  for (size_t number = has_validity ? 0 : 1; number < data.buffers.size(); ++number) {
    const auto& buffer = data.buffers[number];
    if (buffer != nullptr) ARROW_RETURN_NOT_OK(CheckSpan(*buffer));
    buffers.push_back(&buffer);
    sizes.push_back(buffer == nullptr ? 0 : static_cast<uint64_t>(buffer->size()));
  }
  nodes.push_back({layout, has_validity, data.dictionary != nullptr, type_id,
                   static_cast<uint32_t>(data.child_data.size()),
                   static_cast<uint32_t>(buffers.size() - first), width,
                   static_cast<uint64_t>(data.length), static_cast<uint64_t>(data.offset)});
  const bool is_union = layout == Layout::kSparseUnion || layout == Layout::kDenseUnion;
  for (size_t number = 0; number < data.child_data.size(); ++number) {
    const auto id = is_union ? static_cast<const arrow::UnionType&>(type).type_codes()[number] : 0;
    ARROW_RETURN_NOT_OK(Add(*data.child_data[number], static_cast<uint8_t>(id)));
  }
  return data.dictionary == nullptr ? Status::OK() : Add(*data.dictionary);
}

uint64_t BytesOf(const std::vector<const BufferPtr*>& buffers, const std::vector<ByteRange>& ranges) {
  std::vector<std::tuple<ContextIdentity, uint64_t, uint64_t>> found;
  for (size_t number = 0; number < buffers.size(); ++number) {
    if (ranges[number].size == 0) continue;
    const auto& buffer = **buffers[number];
    found.emplace_back(IdentityOf(buffer), buffer.address() + ranges[number].start,
                       ranges[number].size);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  uint64_t bytes = 0;
  for (const auto& [context, address, size] : found) bytes += size;
  return bytes;
}

Outcome<bool> TreeReader::Read(void* state, const Wanted* wanted, size_t count,
                               uint64_t* out) noexcept {
  return GuardValue([&]() -> Result<bool> {
    const auto& reader = *static_cast<TreeReader*>(state);
    if (!reader.IsWorthReading(wanted, count)) return false;
    ARROW_RETURN_NOT_OK(reader.ReadAll(wanted, count, out));
    return true;
  });
}

Failure TreeReader::Replace(void* state, size_t buffer, HostRange bytes) noexcept {
  return Guard([&]() -> Status {
    const arrow::Buffer range(bytes.data, static_cast<int64_t>(bytes.size));
    auto& replaced = static_cast<TreeReader*>(state)->replaced_[buffer];
    return range.CopySlice(0, range.size()).Value(&replaced);
  });
}

// Chunks that share memory may together have all of its elements, whose views lead to all of the data.
bool TreeReader::IsWorthReading(const Wanted* wanted, size_t count) const {
  std::vector<const BufferPtr*> buffers;
  std::vector<ByteRange> parts, wholes, all;
  for (size_t number = 0; number < count; ++number) {
    const auto& [buffer, position, width, elements] = wanted[number];
    if (elements == 1) continue;
    buffers.push_back(tree_.buffers[buffer]);
    parts.push_back({position, width * elements});
    wholes.push_back({0, tree_.sizes[buffer]});
  }
  const uint64_t bytes = BytesOf(buffers, parts);
  if (bytes <= BytesOf(buffers, wholes) / kOfElements) return true;
  for (const uint64_t size : tree_.sizes) all.push_back({0, size});
  return bytes <= BytesOf(tree_.buffers, all) / kOfBytes;
}

Status TreeReader::ReadAll(const Wanted* wanted, size_t count, uint64_t* out) const {
  std::vector<BufferPtr> parts;
  std::vector<const arrow::Buffer*> sources;
  for (size_t number = 0; number < count; ++number) {
    const auto& [buffer, position, width, elements] = wanted[number];
    parts.push_back(arrow::SliceBuffer(*tree_.buffers[buffer], static_cast<int64_t>(position),
                                       static_cast<int64_t>(width * elements)));
    sources.push_back(parts.back().get());
  }
  const auto host = arrow::default_cpu_memory_manager();
  ARROW_ASSIGN_OR_RAISE(const auto copies, CopyBuffers(sources, host, {stream_, nullptr}));
  for (size_t number = 0; number < count; ++number) {
    // Pinned memory may be written by a device.
    if (!copies.has_value()) ARROW_RETURN_NOT_OK(WaitUntilReady(*sources[number]));
    const auto* bytes = copies.has_value() ? (*copies)[number]->data() : sources[number]->data();
    WidenAll(bytes, wanted[number], out);
    out += wanted[number].count;
  }
  return Status::OK();
}

}  // namespace arrow_cuda
