#include "exchange/c_device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/c/bridge.h"
#include "arrow/extension_type.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "exchange/keep_alive.h"
#include "memory/device.h"
#include "exchange/null_count.h"
#include "exchange/view_sizes.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "messages/check.h"
#include "border/calls.h"

namespace arrow_cuda {
namespace {

Result<int32_t> NumberOf(int64_t device_id) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(device_id));
  return device->number();
}

// libarrow reads the last offset of strings to get their size, and the sizes of the buffers of
// views.
bool HoldsStrings(const DataType& type, int depth) {
  if (depth == 0) return true;
  switch (type.id()) {
    case Type::EXTENSION:
      return HoldsStrings(*static_cast<const arrow::ExtensionType&>(type).storage_type(), depth - 1);
    case Type::DICTIONARY:
      return HoldsStrings(*static_cast<const arrow::DictionaryType&>(type).value_type(), depth - 1);
    default:
      return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type.id()) ||
             std::any_of(type.fields().begin(), type.fields().end(), [depth](const auto& field) {
               return HoldsStrings(*field->type(), depth - 1);
             });
  }
}

// For a structure, which has only a bitmap.
bool HasUncountedNulls(const ArrowArray& array) {
  return array.null_count < 0 && array.n_buffers == 1 && array.buffers != nullptr &&
         array.buffers[0] != nullptr;
}

Status CountNulls(const ManagerPtr& manager, ArrowArray* array) {
  ARROW_RETURN_NOT_OK(CheckRange(*array));
  const int64_t end = array->offset + array->length;
  const arrow::Buffer bitmap(static_cast<const uint8_t*>(array->buffers[0]),
                             end / 8 + (end % 8 != 0), manager);
  ARROW_ASSIGN_OR_RAISE(array->null_count, CountZeros(bitmap, array->offset, array->length));
  return Status::OK();
}

// libarrow asks this before it takes the structure over, and would not release it.
Status CheckDevice(const ArrowDeviceArray& array) {
  // It drops all but the last byte, and would take such a structure for another device's.
  const auto type = static_cast<arrow::DeviceAllocationType>(array.device_type);
  if (static_cast<ArrowDeviceType>(type) != array.device_type) {
    return Status::Invalid("no device has type ", array.device_type);
  }
  return arrow::DefaultDeviceMemoryMapper(array.device_type, array.device_id).status();
}

}  // namespace

bool IsOnGpu(const ArrowDeviceArray& array) {
  return array.device_type == ARROW_DEVICE_CUDA || array.device_type == ARROW_DEVICE_CUDA_MANAGED;
}

Status FinishExport(const ArrayDataVector& columns, ArrowDeviceArray* exported) {
  // The interface demands zeros, but libarrow leaves these bytes unchanged.
  std::fill(std::begin(exported->reserved), std::end(exported->reserved), 0);
  if (!IsOnGpu(*exported)) return Status::OK();
  std::vector<const RustEvent*> events;
  for (const auto& column : columns) {
    ForEachBuffer(*column, [&](const arrow::Buffer& buffer) {
      Expose(buffer);
      const auto event = EventOf(buffer);
      const auto* ours = dynamic_cast<const Device::SyncEvent*>(event.get());
      if (ours != nullptr && ours->rust() != nullptr) events.push_back(ours->rust());
    });
  }
  // A newer pyarrow may have set an event already.
  if (exported->sync_event != nullptr) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const int32_t device, NumberOf(exported->device_id));
  ARROW_ASSIGN_OR_RAISE(auto event,
                        Call(Rust().event_pending, device, events.data(), events.size()));
  if (event == nullptr) return Status::OK();
  exported->sync_event = Rust().event_place(event.get());
  KeepAlive(std::move(event), &exported->array);
  return Status::OK();
}

bool MayBePending(const ArrowDeviceArray& array) {
  const bool is_pinned = array.device_type == ARROW_DEVICE_CUDA_HOST;
  return (IsOnGpu(array) || is_pinned) && array.array.release != nullptr &&
         array.sync_event != nullptr;
}

bool ReadsData(const std::vector<TypePtr>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const auto& type) { return HoldsStrings(*type, kMaxDepth); });
}

Status PrepareImport(bool is_batch, bool reads_data, const ReadOnHost& reads,
                     ArrowDeviceArray* array) {
  if (array->array.release == nullptr) return Status::OK();
  ARROW_RETURN_NOT_OK(CheckDevice(*array));
  const bool is_pinned = array->device_type == ARROW_DEVICE_CUDA_HOST;
  // Pinned memory may belong to no particular device.
  const int64_t device_id = is_pinned ? std::max<int64_t>(array->device_id, 0) : array->device_id;
  const bool is_uncounted = is_batch && IsOnGpu(*array) && HasUncountedNulls(array->array);
  if (MayBePending(*array) && (is_uncounted || reads_data || !reads.maps.empty())) {
    ARROW_ASSIGN_OR_RAISE(const int32_t device, NumberOf(device_id));
    ARROW_ASSIGN_OR_RAISE(const auto event,
                          Device::SyncEvent::Wrap(device, array->sync_event, nullptr));
    ARROW_RETURN_NOT_OK(event->Wait());
  }
  if (IsOnGpu(*array) && !reads.views.empty()) {
    ARROW_ASSIGN_OR_RAISE(const int32_t device, NumberOf(device_id));
    ARROW_RETURN_NOT_OK(CopySizesToHost(reads.views, device, &array->array));
  }
  if (!is_uncounted && reads.maps.empty()) return Status::OK();
  auto manager = arrow::default_cpu_memory_manager();
  if (IsOnGpu(*array)) {
    ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(device_id));
    manager = device->default_memory_manager();
  }
  for (ArrowArray* keys : reads.maps) {
    ARROW_RETURN_NOT_OK(CountNulls(manager, keys));
    if (keys->null_count != 0) return KeysAreNull();
  }
  return is_uncounted ? CountNulls(manager, &array->array) : Status::OK();
}

Result<Location> LocationOf(const ArrowDeviceArray& array) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(array.device_id));
  return Location{device->default_memory_manager(),
              static_cast<arrow::DeviceAllocationType>(array.device_type)};
}

}  // namespace arrow_cuda
