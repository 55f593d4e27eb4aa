#include "copies/tree.h"

#include <algorithm>

#include "arrow/type.h"
#include "arrow/util/ubsan.h"
#include "border/status.h"
#include "copies/buffers.h"
#include "memory/resolve.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

int64_t NumberAt(const uint8_t* bytes, uint64_t width) {
  switch (width) {
    case sizeof(int16_t):
      return arrow::util::SafeLoadAs<int16_t>(bytes);
    case sizeof(int32_t):
      return arrow::util::SafeLoadAs<int32_t>(bytes);
    default:
      return arrow::util::SafeLoadAs<int64_t>(bytes);
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

void Tree::Add(const ArrayData& data, uint8_t type_id) {
  const auto& type = StorageOf(*data.type);
  const auto [layout, width] = LayoutOf(type);
  const size_t first = buffers.size();
  const bool has_validity = !data.buffers.empty() && data.buffers[0] != nullptr;
  for (size_t number = has_validity ? 0 : 1; number < data.buffers.size(); ++number) {
    buffers.push_back(&data.buffers[number]);
  }
  nodes.push_back({layout, has_validity, data.dictionary != nullptr, type_id,
                   static_cast<uint32_t>(data.child_data.size()),
                   static_cast<uint32_t>(buffers.size() - first), width,
                   static_cast<uint64_t>(data.length), static_cast<uint64_t>(data.offset)});
  const bool is_union = layout == Layout::kSparseUnion || layout == Layout::kDenseUnion;
  for (size_t number = 0; number < data.child_data.size(); ++number) {
    const auto id = is_union ? static_cast<const arrow::UnionType&>(type).type_codes()[number] : 0;
    Add(*data.child_data[number], static_cast<uint8_t>(id));
  }
  if (data.dictionary != nullptr) Add(*data.dictionary);
}

std::vector<uint64_t> Tree::Sizes() const {
  std::vector<uint64_t> sizes;
  sizes.reserve(buffers.size());
  for (const auto* buffer : buffers) {
    sizes.push_back(*buffer == nullptr ? 0 : static_cast<uint64_t>((*buffer)->size()));
  }
  return sizes;
}

OffsetReader TreeReader::ForRust() { return {this, Read}; }

Failure TreeReader::Read(void* state, const Wanted* wanted, size_t count, uint64_t* out) noexcept {
  return Guard([&] { return static_cast<TreeReader*>(state)->ReadAll(wanted, count, out); });
}

Status TreeReader::ReadAll(const Wanted* wanted, size_t count, uint64_t* out) const {
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
    out[number] = static_cast<uint64_t>(NumberAt(bytes, wanted[number].width));
  }
  return Status::OK();
}

}  // namespace arrow_cuda
