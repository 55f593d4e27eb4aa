#include "exchange/c_device.h"

#include <algorithm>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/extension_type.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "memory/device.h"
#include "exchange/null_count.h"
#include "memory/resolve.h"
#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayData;
using arrow::Status;

using Events = std::vector<const RustEvent*>;

void AddEventsOf(const ArrayData& data, Events* events) {
  for (const auto& buffer : data.buffers) {
    if (buffer == nullptr) continue;
    const auto event = EventOf(*buffer);
    const auto* ours = dynamic_cast<const Device::SyncEvent*>(event.get());
    if (ours != nullptr && ours->rust() != nullptr) events->push_back(ours->rust());
  }
  for (const auto& child : data.child_data) {
    if (child != nullptr) AddEventsOf(*child, events);
  }
  if (data.dictionary != nullptr) AddEventsOf(*data.dictionary, events);
}

void ExposeBuffersOf(const ArrayData& data) {
  for (const auto& buffer : data.buffers) {
    if (buffer != nullptr) Expose(*buffer);
  }
  for (const auto& child : data.child_data) {
    if (child != nullptr) ExposeBuffersOf(*child);
  }
  if (data.dictionary != nullptr) ExposeBuffersOf(*data.dictionary);
}

// The private data of a structure with its own event, in addition to libarrow's.
struct Attached {
  Handle<RustEvent> event;
  void (*release)(ArrowArray*);
  void* private_data;
};

// The consumer may have moved the structure, and may call from any thread.
void ReleaseAttached(ArrowArray* array) {
  const std::unique_ptr<Attached> attached(static_cast<Attached*>(array->private_data));
  array->release = attached->release;
  array->private_data = attached->private_data;
  array->release(array);
}

arrow::Result<int32_t> NumberOf(int64_t device_id) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(device_id));
  return device->number();
}

// libarrow imports no deeper types.
constexpr int kMaxDepth = 64;

// libarrow reads the last offset of strings to get their size, and the sizes of the buffers of
// views.
bool HoldsStrings(const arrow::DataType& type, int depth) {
  if (depth == 0) return true;
  switch (type.id()) {
    case arrow::Type::EXTENSION:
      return HoldsStrings(*static_cast<const arrow::ExtensionType&>(type).storage_type(), depth - 1);
    case arrow::Type::DICTIONARY:
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

Status CountNulls(int64_t device_id, ArrowArray* array) {
  int64_t end = 0;
  if (array->offset < 0 || array->length < 0 ||
      __builtin_add_overflow(array->offset, array->length, &end)) {
    return Status::Invalid("an impossible length: ", array->length, " values from ",
                           array->offset, " on");
  }
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(device_id));
  const arrow::Buffer bitmap(static_cast<const uint8_t*>(array->buffers[0]),
                             end / 8 + (end % 8 != 0), device->default_memory_manager());
  ARROW_ASSIGN_OR_RAISE(array->null_count, CountZeros(bitmap, array->offset, array->length));
  return Status::OK();
}

}  // namespace

bool IsOnGpu(const ArrowDeviceArray& array) {
  return array.device_type == ARROW_DEVICE_CUDA || array.device_type == ARROW_DEVICE_CUDA_MANAGED;
}

void Expose(const std::vector<std::shared_ptr<ArrayData>>& columns) {
  for (const auto& column : columns) ExposeBuffersOf(*column);
}

Status AttachEvent(const std::vector<std::shared_ptr<ArrayData>>& columns,
                   ArrowDeviceArray* exported) {
  ARROW_ASSIGN_OR_RAISE(const int32_t device, NumberOf(exported->device_id));
  Events events;
  for (const auto& column : columns) AddEventsOf(*column, &events);
  RustEvent* pending = nullptr;
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) {
    return Rust().event_pending(device, events.data(), events.size(), &pending, failure);
  }));
  if (pending == nullptr) return Status::OK();
  Handle<RustEvent> event(pending);
  ArrowArray& array = exported->array;
  exported->sync_event = Rust().event_place(pending);
  auto attached = std::make_unique<Attached>(std::move(event), array.release, array.private_data);
  array.release = ReleaseAttached;
  array.private_data = attached.release();
  return Status::OK();
}

bool MayBePending(const ArrowDeviceArray& array) {
  const bool is_pinned = array.device_type == ARROW_DEVICE_CUDA_HOST;
  return (IsOnGpu(array) || is_pinned) && array.array.release != nullptr &&
         array.sync_event != nullptr;
}

bool ReadsData(const std::vector<std::shared_ptr<arrow::DataType>>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const auto& type) { return HoldsStrings(*type, kMaxDepth); });
}

Status PrepareImport(bool is_batch, bool reads_data, ArrowDeviceArray* array) {
  const bool is_pinned = array->device_type == ARROW_DEVICE_CUDA_HOST;
  if (!(IsOnGpu(*array) || is_pinned) || array->array.release == nullptr) return Status::OK();
  // Pinned memory may belong to no particular device.
  const int64_t device_id = is_pinned ? std::max<int64_t>(array->device_id, 0) : array->device_id;
  const bool is_uncounted = is_batch && !is_pinned && HasUncountedNulls(array->array);
  if (array->sync_event != nullptr && (is_uncounted || reads_data)) {
    ARROW_ASSIGN_OR_RAISE(const int32_t device, NumberOf(device_id));
    ARROW_ASSIGN_OR_RAISE(const auto event,
                          Device::SyncEvent::Wrap(device, array->sync_event, nullptr));
    ARROW_RETURN_NOT_OK(event->Wait());
  }
  return is_uncounted ? CountNulls(device_id, &array->array) : Status::OK();
}

arrow::Result<Home> HomeOf(const ArrowDeviceArray& array) {
  ARROW_ASSIGN_OR_RAISE(const auto device, Device::Get(array.device_id));
  return Home{device->default_memory_manager(),
              static_cast<arrow::DeviceAllocationType>(array.device_type)};
}

}  // namespace arrow_cuda
