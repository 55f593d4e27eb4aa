#include "copies/buffers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "border/rust.h"
#include "border/status.h"
#include "memory/buffer.h"
#include "memory/memory_manager.h"
#include "memory/resolve.h"

namespace arrow_cuda {
namespace {

using arrow::Status;
using BufferPtr = std::shared_ptr<arrow::Buffer>;
using ManagerPtr = std::shared_ptr<arrow::MemoryManager>;

// Some of the sources, each with its number.
struct Sources {
  std::vector<const arrow::Buffer*> buffers;
  std::vector<size_t> numbers;

  void Add(const arrow::Buffer* buffer, size_t number) {
    buffers.push_back(buffer);
    numbers.push_back(number);
  }
};

Status WaitForAll(const std::vector<const arrow::Buffer*>& sources) {
  const arrow::Device::SyncEvent* reached = nullptr;
  for (const auto* source : sources) {
    ARROW_RETURN_NOT_OK(CheckSpan(*source));
    // The buffers of one producer have one event.
    const auto event = EventOf(*source);
    if (event == nullptr || event.get() == reached) continue;
    ARROW_RETURN_NOT_OK(event->Wait());
    reached = event.get();
  }
  return Status::OK();
}

// The device memory of buffers, for one call.
class BorrowedBuffers {
 public:
  static arrow::Result<BorrowedBuffers> From(const std::vector<const arrow::Buffer*>& buffers) {
    BorrowedBuffers all;
    all.owners_.reserve(buffers.size());
    all.rust_.reserve(buffers.size());
    for (const auto* buffer : buffers) {
      ARROW_ASSIGN_OR_RAISE(auto borrowed, Borrowed::From(*buffer));
      all.rust_.push_back(borrowed.get());
      all.owners_.push_back(std::move(borrowed));
    }
    return all;
  }

  const RustBuffer* const* data() const { return rust_.data(); }
  size_t size() const { return rust_.size(); }

 private:
  std::vector<Borrowed> owners_;
  std::vector<const RustBuffer*> rust_;
};

// Has Rust make `numbers.size()` buffers, and stores them at their numbers.
template <typename Make>
Status Store(const std::vector<size_t>& numbers, const ManagerPtr& to, Make&& make,
             std::vector<BufferPtr>* copies) {
  if (numbers.empty()) return Status::OK();
  std::vector<RustBuffer*> made(numbers.size());
  std::vector<Handle<RustBuffer>> owners(numbers.size());
  ARROW_RETURN_NOT_OK(Try([&](Failure* failure) { return make(made.data(), failure); }));
  for (size_t index = 0; index < made.size(); ++index) owners[index].reset(made[index]);
  for (size_t index = 0; index < made.size(); ++index) {
    (*copies)[numbers[index]] = DeviceBuffer::MakeIn(to, std::move(owners[index]));
  }
  return Status::OK();
}

Status FromHost(const Sources& sources, int32_t device, const ManagerPtr& to,
                std::vector<BufferPtr>* copies) {
  std::vector<HostRange> ranges;
  ranges.reserve(sources.buffers.size());
  for (const auto* source : sources.buffers) {
    ranges.push_back({source->data(), static_cast<size_t>(source->size())});
  }
  const auto make = [&](RustBuffer** made, Failure* failure) {
    return Rust().copies_of_host(device, ranges.data(), ranges.size(), made, failure);
  };
  return Store(sources.numbers, to, make, copies);
}

Status FromGpu(const Sources& sources, int32_t device, const ManagerPtr& to,
               std::vector<BufferPtr>* copies) {
  ARROW_ASSIGN_OR_RAISE(const auto from, BorrowedBuffers::From(sources.buffers));
  const auto make = [&](RustBuffer** made, Failure* failure) {
    return Rust().copies_of_buffers(device, from.data(), from.size(), made, failure);
  };
  return Store(sources.numbers, to, make, copies);
}

Status GpuToHost(const Sources& sources, const ManagerPtr& to, std::vector<BufferPtr>* copies) {
  ARROW_ASSIGN_OR_RAISE(const auto from, BorrowedBuffers::From(sources.buffers));
  std::vector<HostTarget> targets;
  targets.reserve(from.size());
  for (size_t index = 0; index < from.size(); ++index) {
    const int64_t size = sources.buffers[index]->size();
    // Each has memory of its own, so that a column that outlives the others keeps only itself.
    ARROW_ASSIGN_OR_RAISE(BufferPtr copy, to->AllocateBuffer(size));
    targets.push_back({copy->mutable_data(), static_cast<size_t>(size)});
    (*copies)[sources.numbers[index]] = std::move(copy);
  }
  return Try([&](Failure* failure) {
    return Rust().copy_all_to_host(from.data(), targets.data(), targets.size(), failure);
  });
}

Status HostToHost(const Sources& sources, const ManagerPtr& to, std::vector<BufferPtr>* copies) {
  for (size_t index = 0; index < sources.buffers.size(); ++index) {
    ARROW_ASSIGN_OR_RAISE((*copies)[sources.numbers[index]],
                          arrow::MemoryManager::CopyNonOwned(*sources.buffers[index], to));
  }
  return Status::OK();
}

}  // namespace

bool CanCopyBuffers(const std::vector<const arrow::Buffer*>& sources,
                    const arrow::MemoryManager& to) {
  const auto is_of_host = [](const auto* source) { return source->memory_manager()->is_cpu(); };
  const auto is_on_gpu = [](const auto* source) { return IsOnDevice(*source); };
  if (IsCuda(to)) {
    return std::all_of(sources.begin(), sources.end(), [&](const auto* source) {
      return is_of_host(source) || is_on_gpu(source);
    });
  }
  if (!to.is_cpu()) return false;
  bool is_any_on_gpu = false;
  for (const auto* source : sources) {
    const bool on_gpu = is_on_gpu(source);
    if (!on_gpu && !is_of_host(source)) return false;
    is_any_on_gpu |= on_gpu;
  }
  return is_any_on_gpu;
}

arrow::Result<std::vector<BufferPtr>> CopyBuffers(const std::vector<const arrow::Buffer*>& sources,
                                                  const ManagerPtr& to) {
  ARROW_RETURN_NOT_OK(WaitForAll(sources));
  Sources of_host;
  Sources of_gpu;
  for (size_t number = 0; number < sources.size(); ++number) {
    const auto* source = sources[number];
    // libarrow's mutable slices of device memory report is_cpu(): ask this before any access.
    (IsOnDevice(*source) ? of_gpu : of_host).Add(source, number);
  }
  std::vector<BufferPtr> copies(sources.size());
  if (IsCuda(*to)) {
    const auto device = static_cast<int32_t>(to->device()->device_id());
    ARROW_RETURN_NOT_OK(FromHost(of_host, device, to, &copies));
    ARROW_RETURN_NOT_OK(FromGpu(of_gpu, device, to, &copies));
  } else {
    ARROW_RETURN_NOT_OK(GpuToHost(of_gpu, to, &copies));
    ARROW_RETURN_NOT_OK(HostToHost(of_host, to, &copies));
  }
  return copies;
}

}  // namespace arrow_cuda
