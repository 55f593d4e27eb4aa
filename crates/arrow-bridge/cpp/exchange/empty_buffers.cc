#include "exchange/empty_buffers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayData;
using BufferPtr = std::shared_ptr<arrow::Buffer>;
using DataPtr = std::shared_ptr<ArrayData>;

// The size of the widest offset, in bytes.
constexpr std::array<uint8_t, 8> kFirstOffset{};

const arrow::Buffer* BufferOfHome(const ArrayData& data) {
  for (const auto& buffer : data.buffers) {
    if (buffer != nullptr && buffer->device_type() != arrow::DeviceAllocationType::kCPU) {
      return buffer.get();
    }
  }
  for (const auto& child : data.child_data) {
    const auto* found = child == nullptr ? nullptr : BufferOfHome(*child);
    if (found != nullptr) return found;
  }
  return data.dictionary == nullptr ? nullptr : BufferOfHome(*data.dictionary);
}

bool IsElsewhere(const BufferPtr& buffer, const Home& home) {
  return buffer != nullptr && buffer->size() == 0 && buffer->is_cpu() &&
         buffer->device_type() != home.type;
}

bool LacksFirstOffset(const ArrayData& data, const Home& home) {
  if (home.type != arrow::DeviceAllocationType::kCUDA || data.length != 0 || data.offset != 0 ||
      data.buffers.size() < 2 || (data.buffers[1] != nullptr && data.buffers[1]->size() > 0)) {
    return false;
  }
  const auto id = data.type->storage_id();
  return arrow::is_base_binary_like(id) || arrow::is_var_length_list(id);
}

// Before release 25, libarrow casts short strings to views with null in place of their characters, and crashes where
// it exports those.
constexpr size_t kFirstCharacters = 2;

bool IsMissing(const ArrayData& data, size_t index) {
  return index >= kFirstCharacters && data.buffers[index] == nullptr &&
         arrow::is_binary_view_like(data.type->storage_id());
}

bool IsMissingAny(const ArrayData& data) {
  for (size_t i = kFirstCharacters; i < data.buffers.size(); ++i) {
    if (IsMissing(data, i)) return true;
  }
  return false;
}

arrow::Result<DataPtr> Replaced(const ArrayData& data, const Home& home, const BufferPtr& empty) {
  auto copy = std::make_shared<ArrayData>(data);
  if (LacksFirstOffset(data, home)) {
    const arrow::Buffer zero(kFirstOffset.data(), kFirstOffset.size());
    ARROW_ASSIGN_OR_RAISE(copy->buffers[1],
                          arrow::MemoryManager::CopyNonOwned(zero, home.manager));
  }
  for (size_t i = 0; i < copy->buffers.size(); ++i) {
    auto& buffer = copy->buffers[i];
    if (IsElsewhere(buffer, home) || IsMissing(data, i)) buffer = empty;
  }
  for (auto& child : copy->child_data) {
    if (child == nullptr || !NeedsBuffers(*child, home)) continue;
    ARROW_ASSIGN_OR_RAISE(child, Replaced(*child, home, empty));
  }
  if (copy->dictionary != nullptr && NeedsBuffers(*copy->dictionary, home)) {
    ARROW_ASSIGN_OR_RAISE(copy->dictionary, Replaced(*copy->dictionary, home, empty));
  }
  return copy;
}

}  // namespace

std::optional<Home> HomeOf(const arrow::ArrayDataVector& columns) {
  for (const auto& column : columns) {
    if (const auto* buffer = BufferOfHome(*column)) {
      return Home{buffer->memory_manager(), buffer->device_type()};
    }
  }
  return std::nullopt;
}

Home OnHost() {
  return Home{arrow::default_cpu_memory_manager(), arrow::DeviceAllocationType::kCPU};
}

bool NeedsBuffers(const ArrayData& data, const Home& home) {
  return LacksFirstOffset(data, home) || IsMissingAny(data) ||
         std::any_of(data.buffers.begin(), data.buffers.end(),
                     [&](const auto& buffer) { return IsElsewhere(buffer, home); }) ||
         std::any_of(data.child_data.begin(), data.child_data.end(),
                     [&](const auto& child) { return child && NeedsBuffers(*child, home); }) ||
         (data.dictionary != nullptr && NeedsBuffers(*data.dictionary, home));
}

arrow::Result<DataPtr> WithoutHostBuffers(const ArrayData& data, const Home& home) {
  if (!NeedsBuffers(data, home)) return nullptr;
  const auto empty = std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(nullptr), 0,
                                                     home.manager, nullptr, home.type);
  return Replaced(data, home, empty);
}

}  // namespace arrow_cuda
