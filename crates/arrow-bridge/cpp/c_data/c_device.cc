#include "c_data/c_device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/c/bridge.h"
#include "arrow/extension_type.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "c_data/null_count.h"
#include "memory/device.h"
#include "memory/identity.h"
#include "memory/resolve.h"
#include "memory/traverse.h"
#include "messages/check.h"
#include "border/calls.h"

namespace arrow_cuda {
namespace {

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
             std::ranges::any_of(type.fields(), [depth](const auto& field) {
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

// An object that lives as long as a structure, beside the producer's data.
template <typename Kept>
struct KeptAlive {
  Kept kept;
  // The producer's.
  void (*release)(ArrowArray*);
  void* private_data;

  // The consumer may have moved the structure, and may call from any thread.
  static void Release(ArrowArray* array) {
    std::unique_ptr<KeptAlive> held(static_cast<KeptAlive*>(array->private_data));
    array->release = held->release;
    array->private_data = held->private_data;
    // The producer finds the structure as it has made it.
    held.reset();
    array->release(array);
  }
};

// Destroys `kept` when the structure is released, right before the producer releases its own data.
template <typename Kept>
void KeepAlive(Kept kept, ArrowArray* array) {
  array->private_data = new KeptAlive<Kept>{std::move(kept), array->release, array->private_data};
  array->release = KeptAlive<Kept>::Release;
}

// Validity and views come before the buffers, and the sizes after them.
constexpr int64_t kOtherBuffers = 3;

// Copies of the sizes of the buffers that views lead to, to which a structure points until this goes.
class HostSizes {
 public:
  HostSizes() = default;
  HostSizes(HostSizes&&) = default;
  HostSizes& operator=(HostSizes&&) = delete;
  ~HostSizes() {
    for (const Copy& each : copies_) *each.place = each.original;
  }

  void Add(const void** place, std::vector<int64_t> sizes) {
    copies_.push_back({place, *place, std::move(sizes)});
    *place = copies_.back().sizes.data();
  }

  bool IsEmpty() const { return copies_.empty(); }

 private:
  struct Copy {
    // Where the structure has the address of the sizes, and what was there.
    const void** place;
    const void* original;
    std::vector<int64_t> sizes;
  };

  std::vector<Copy> copies_;
};

Result<std::vector<int64_t>> CopiedSizes(const void* address, int64_t count,
                                         const ManagerPtr& manager) {
  int64_t size = 0;
  if (__builtin_mul_overflow(count, int64_t{sizeof(int64_t)}, &size)) {
    return Status::Invalid("an array has an impossible number of buffers: ", count);
  }
  const arrow::Buffer there(static_cast<const uint8_t*>(address), size, manager);
  // Compares the size with what is allocated there.
  ARROW_ASSIGN_OR_RAISE(const auto memory, Borrowed::From(there));
  std::vector<int64_t> sizes(static_cast<size_t>(count));
  auto* out = reinterpret_cast<uint8_t*>(sizes.data());
  ARROW_RETURN_NOT_OK(Call(Rust().copy_to_host, memory.get(), 0, out, size));
  return sizes;
}

// libarrow reads the sizes on the host, and some producers have them on the device, as all else.
// Those are replaced by copies until the structure, whose parts the views are, is released.
Status CopySizesToHost(const std::vector<ArrowArray*>& views, const ManagerPtr& manager,
                       ArrowArray* structure) {
  HostSizes host_sizes;
  for (const ArrowArray* array : views) {
    const void** place = &array->buffers[array->n_buffers - 1];
    ARROW_ASSIGN_OR_RAISE(const bool is_there, Call(Rust().is_device_memory, ContextOf(*manager),
                                                    reinterpret_cast<uint64_t>(*place)));
    if (!is_there) continue;
    ARROW_ASSIGN_OR_RAISE(auto sizes, CopiedSizes(*place, array->n_buffers - kOtherBuffers, manager));
    host_sizes.Add(place, std::move(sizes));
  }
  if (!host_sizes.IsEmpty()) KeepAlive(std::move(host_sizes), structure);
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

// The memory of columns that is allocated or viewed here, and the events that it was imported with, which
// all live as long as the columns.
struct Leaving {
  explicit Leaving(const ArrayDataVector& columns) {
    for (const auto& column : columns) {
      ForEachBuffer(*column, [&](const arrow::Buffer& buffer) {
        if (const auto* ours = RustBufferOf(buffer)) buffers.push_back(ours);
        const auto event = EventOf(buffer);
        const auto* wrapped = dynamic_cast<const Device::SyncEvent*>(event.get());
        if (wrapped != nullptr && wrapped->rust() != nullptr) events.push_back(wrapped->rust());
      });
    }
  }

  std::vector<const RustBuffer*> buffers;
  std::vector<const RustEvent*> events;
};

template <typename Data>
Result<Data> Finished(const Data& imported, const ArrowDeviceArray& origin) {
  for (const auto& column : ColumnsOf(*imported)) {
    const auto* senseless = FindBuffer(*column, [](const auto& buffer) { return buffer.size() < 0; });
    if (senseless != nullptr) return CheckSpan(*senseless);
  }
  if (!IsOnGpu(origin)) return imported;
  ARROW_ASSIGN_OR_RAISE(auto manager, ManagerOfDevice(origin.device_id));
  const auto type = static_cast<arrow::DeviceAllocationType>(origin.device_type);
  return WithEmptyBuffersAt(imported, {std::move(manager), type});
}

}  // namespace

bool IsOnGpu(const ArrowDeviceArray& array) {
  return array.device_type == ARROW_DEVICE_CUDA || array.device_type == ARROW_DEVICE_CUDA_MANAGED;
}

Status FinishExport(const ArrayDataVector& columns, ArrowDeviceArray* exported) {
  // The interface demands zeros, but libarrow leaves these bytes unchanged.
  std::fill(std::begin(exported->reserved), std::end(exported->reserved), 0);
  if (!IsOnGpu(*exported)) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(exported->device_id));
  ARROW_RETURN_NOT_OK(CheckContexts(columns, ContextOf(*manager)));
  const Leaving leaving(columns);
  ARROW_ASSIGN_OR_RAISE(
      auto event, Call(Rust().ready_after_event, ContextOf(*manager), leaving.buffers.data(),
                       leaving.buffers.size(), leaving.events.data(), leaving.events.size()));
  // A newer pyarrow may have set an event already.
  if (exported->sync_event != nullptr || event == nullptr) return Status::OK();
  exported->sync_event = Rust().event_place(event.get());
  KeepAlive(std::move(event), &exported->array);
  return Status::OK();
}

Status MakeReady(const ArrayDataVector& columns, int32_t device) {
  ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device));
  ARROW_RETURN_NOT_OK(CheckContexts(columns, ContextOf(*manager)));
  const Leaving leaving(columns);
  return Call(Rust().ready_on_default_stream, ContextOf(*manager), leaving.buffers.data(),
              leaving.buffers.size(), leaving.events.data(), leaving.events.size());
}

bool MayBePending(const ArrowDeviceArray& array) {
  const bool is_pinned = array.device_type == ARROW_DEVICE_CUDA_HOST;
  return (IsOnGpu(array) || is_pinned) && array.array.release != nullptr &&
         array.sync_event != nullptr;
}

bool ReadsData(const std::vector<TypePtr>& types) {
  return std::ranges::any_of(types, [](const auto& type) { return HoldsStrings(*type, kMaxDepth); });
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
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device_id));
    ARROW_ASSIGN_OR_RAISE(
        const auto event,
        Device::SyncEvent::Wrap(ContextOf(*manager), array->sync_event, nullptr));
    ARROW_RETURN_NOT_OK(event->Wait());
  }
  if (IsOnGpu(*array) && !reads.views.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device_id));
    ARROW_RETURN_NOT_OK(CopySizesToHost(reads.views, manager, &array->array));
  }
  if (!is_uncounted && reads.maps.empty()) return Status::OK();
  auto manager = arrow::default_cpu_memory_manager();
  if (IsOnGpu(*array)) {
    ARROW_ASSIGN_OR_RAISE(manager, ManagerOfDevice(device_id));
  }
  for (ArrowArray* keys : reads.maps) {
    ARROW_RETURN_NOT_OK(CountNulls(manager, keys));
    if (keys->null_count != 0) return KeysAreNull();
  }
  return is_uncounted ? CountNulls(manager, &array->array) : Status::OK();
}

Result<ArrayPtr> FinishImport(const ArrayPtr& imported, const ArrowDeviceArray& origin) {
  return Finished(imported, origin);
}

Result<BatchPtr> FinishImport(const BatchPtr& imported, const ArrowDeviceArray& origin) {
  return Finished(imported, origin);
}

}  // namespace arrow_cuda
