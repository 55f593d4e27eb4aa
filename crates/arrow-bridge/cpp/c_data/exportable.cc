#include "c_data/exportable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "arrow/array/util.h"
#include "arrow/buffer.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "c_data/alignment.h"
#include "c_data/null_count.h"
#include "border/calls.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// The size of the widest offset, in bytes.
constexpr std::array<uint8_t, 8> kFirstOffset{};

bool IsElsewhere(const BufferPtr& buffer, const Location& location) {
  return buffer != nullptr && buffer->size() == 0 && buffer->is_cpu() &&
         buffer->device_type() != location.type;
}

// Some producers have what is empty at addresses of no memory.
bool IsNowhere(const arrow::Buffer& buffer) {
  if (buffer.is_cpu() || RustBufferOf(buffer) != nullptr) return false;
  const auto* address = reinterpret_cast<const void*>(buffer.address());
  const auto known = Call(Rust().device_address, ContextOf(buffer), address);
  return known.ok() && *known == 0;
}

bool LacksFirstOffset(const ArrayData& data, const Location& location) {
  if (location.type != arrow::DeviceAllocationType::kCUDA || data.length != 0 || data.offset != 0 ||
      data.buffers.size() < 2 || !HasEndOffset(data.type->storage_id())) {
    return false;
  }
  const auto& offsets = data.buffers[1];
  return offsets == nullptr || offsets->size() == 0 || IsNowhere(*offsets);
}

// Before release 25, libarrow casts short strings to views with null in place of their characters, and
// crashes when it exports those.
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

bool NeedsBuffers(const ArrayData& data, const Location& location) {
  const auto is_elsewhere = [&](const auto& buffer) { return IsElsewhere(buffer, location); };
  return AnyWithin(data, [&](const ArrayData& part) {
    return LacksFirstOffset(part, location) || IsMissingAny(part) ||
           std::ranges::any_of(part.buffers, is_elsewhere);
  });
}

Result<DataPtr> Replaced(const ArrayData& data, const Location& location, const BufferPtr& empty) {
  auto copy = std::make_shared<ArrayData>(data);
  if (LacksFirstOffset(data, location)) {
    const arrow::Buffer zero(kFirstOffset.data(), kFirstOffset.size());
    ARROW_ASSIGN_OR_RAISE(copy->buffers[1],
                          arrow::MemoryManager::CopyNonOwned(zero, location.manager));
  }
  for (size_t i = 0; i < copy->buffers.size(); ++i) {
    auto& buffer = copy->buffers[i];
    if (IsElsewhere(buffer, location) || IsMissing(data, i)) buffer = empty;
  }
  for (auto& child : copy->child_data) {
    if (child == nullptr || !NeedsBuffers(*child, location)) continue;
    ARROW_ASSIGN_OR_RAISE(child, Replaced(*child, location, empty));
  }
  if (copy->dictionary != nullptr && NeedsBuffers(*copy->dictionary, location)) {
    ARROW_ASSIGN_OR_RAISE(copy->dictionary, Replaced(*copy->dictionary, location, empty));
  }
  return copy;
}

// Moves all empty buffers to `location`, and returns whether there were any.  Creating an offset there
// waits for the default stream's work.
Result<bool> Move(const Location& location, ArrayDataVector* columns) {
  bool changed = false;
  for (auto& column : *columns) {
    if (!NeedsBuffers(*column, location)) continue;
    const auto empty = std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(nullptr), 0,
                                                       location.manager, nullptr, location.type);
    ARROW_ASSIGN_OR_RAISE(column, Replaced(*column, location, empty));
    changed = true;
  }
  return changed;
}

// The location of the columns: the host if all of them are plain memory there.
Location CommonLocation(const ArrayDataVector& columns) {
  const Location host{arrow::default_cpu_memory_manager(), arrow::DeviceAllocationType::kCPU};
  return LocationOf(columns).value_or(host);
}

ArrayPtr With(const ArrayPtr&, ArrayDataVector columns, const Location&) {
  return arrow::MakeArray(columns.front());
}

BatchPtr With(const BatchPtr& data, ArrayDataVector columns, const Location& location) {
  return arrow::RecordBatch::Make(data->schema(), data->num_rows(), std::move(columns), location.type,
                                  data->GetSyncEvent());
}

template <typename Data>
Result<Data> Completed(const Data& data) {
  ArrayDataVector columns = ColumnsOf(*data);
  ARROW_RETURN_NOT_OK(CountNulls(columns));
  const auto location = CommonLocation(columns);
  ARROW_ASSIGN_OR_RAISE(const bool aligned, Align(&columns));
  ARROW_ASSIGN_OR_RAISE(const bool moved, Move(location, &columns));
  return aligned || moved ? With(data, std::move(columns), location) : data;
}

template <typename Data>
Result<Data> Moved(const Data& data, const Location& location) {
  ArrayDataVector columns = ColumnsOf(*data);
  ARROW_ASSIGN_OR_RAISE(const bool moved, Move(location, &columns));
  return moved ? With(data, std::move(columns), location) : data;
}

}  // namespace

std::optional<Location> LocationOf(const ArrayDataVector& columns) {
  for (const auto& column : columns) {
    const auto* found = FindBuffer(*column, [](const arrow::Buffer& buffer) {
      return buffer.device_type() != arrow::DeviceAllocationType::kCPU;
    });
    if (found != nullptr) return Location{found->memory_manager(), found->device_type()};
  }
  return std::nullopt;
}

bool IsExportable(const ArrayDataVector& columns) {
  const Location location = CommonLocation(columns);
  const auto needs_buffers = [&](const auto& column) { return NeedsBuffers(*column, location); };
  return !HasUncountedNulls(columns) && IsAligned(columns) && std::ranges::none_of(columns, needs_buffers);
}

Result<ArrayPtr> Exportable(const ArrayPtr& data) { return Completed(data); }

Result<BatchPtr> Exportable(const BatchPtr& data) { return Completed(data); }

Result<ArrayPtr> WithEmptyBuffersAt(const ArrayPtr& data, const Location& location) {
  return Moved(data, location);
}

Result<BatchPtr> WithEmptyBuffersAt(const BatchPtr& data, const Location& location) {
  return Moved(data, location);
}

}  // namespace arrow_cuda
