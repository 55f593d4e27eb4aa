#include "copies/buffers.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "arrow/memory_pool.h"
#include "arrow/util/bit_util.h"
#include "border/calls.h"
#include "copies/rust_buffers.h"
#include "memory/buffer.h"
#include "memory/device.h"
#include "memory/memory_manager.h"
#include "memory/resolve.h"
#include "memory/slab.h"

namespace arrow_cuda {
namespace {

std::atomic<bool> pools_are_gone = false;

// libarrow was loaded before this library, so its pools are destroyed after this.
struct Exit {
  ~Exit() { pools_are_gone = true; }
} at_exit;

// Memory of one of libarrow's pools, as `arrow::AllocateBuffer` gives it: aligned, and padded with
// zeros.  Unlike that, it can lie in a slab.  Has no memory until `Allocate` succeeds.
class PoolBuffer : public arrow::MutableBuffer {
 public:
  PoolBuffer(arrow::MemoryPool* pool, ManagerPtr manager)
      : arrow::MutableBuffer(nullptr, 0, std::move(manager)), pool_(pool) {}

  ~PoolBuffer() override {
    if (data_ != nullptr && !pools_are_gone) pool_->Free(mutable_data(), capacity_);
  }

  // To be called once.
  Status Allocate(int64_t size) {
    const int64_t capacity = arrow::bit_util::RoundUpToMultipleOf64(size);
    uint8_t* data = nullptr;
    ARROW_RETURN_NOT_OK(pool_->Allocate(capacity, &data));
    data_ = data;
    size_ = size;
    capacity_ = capacity;
    ZeroPadding();
    return Status::OK();
  }

 private:
  arrow::MemoryPool* const pool_;
};

// Some of the sources, each with its number.
struct Sources {
  std::vector<const arrow::Buffer*> buffers;
  std::vector<size_t> numbers;

  void Reserve(size_t count) {
    buffers.reserve(count);
    numbers.reserve(count);
  }

  void Add(const arrow::Buffer* buffer, size_t number) {
    buffers.push_back(buffer);
    numbers.push_back(number);
  }

  void Store(std::vector<BufferPtr> made, std::vector<BufferPtr>* copies) const {
    for (size_t index = 0; index < made.size(); ++index) {
      (*copies)[numbers[index]] = std::move(made[index]);
    }
  }

  size_t size() const { return buffers.size(); }
};

// The sources by the memory that they lie in.
struct Parted {
  Sources of_host;
  Sources of_gpu;

  // No value if some lie elsewhere.
  static std::optional<Parted> From(const std::vector<const arrow::Buffer*>& sources) {
    Parted parted;
    parted.of_host.Reserve(sources.size());
    parted.of_gpu.Reserve(sources.size());
    for (size_t number = 0; number < sources.size(); ++number) {
      const auto* source = sources[number];
      // libarrow's mutable slices of device memory report is_cpu(): ask this before any access.
      if (IsOnDevice(*source)) {
        parted.of_gpu.Add(source, number);
      } else if (source->memory_manager()->is_cpu()) {
        parted.of_host.Add(source, number);
      } else {
        return std::nullopt;
      }
    }
    return parted;
  }
};

// As many buffers as Rust is asked to make.
template <typename Make>
Result<std::vector<BufferPtr>> AsBuffers(size_t count, const ManagerPtr& to, Make&& make) {
  std::vector<BufferPtr> copies;
  if (count == 0) return copies;
  const auto make_all = [&](BufferPlace* made) -> Result<size_t> {
    ARROW_RETURN_NOT_OK(make(made));
    return count;
  };
  ARROW_ASSIGN_OR_RAISE(auto made, MadeBuffers::By(count, make_all));
  Slab<DeviceBuffer> slab(count);
  copies.reserve(count);
  while (copies.size() < count) copies.push_back(made.Next(&slab, to));
  return copies;
}

// A share of the owner for Rust, which keeps it as long as queued work needs it.
Owner Share(const Order& order) {
  using Shared = std::shared_ptr<const void>;
  return Owner{new Shared(order.owner), [](void* owner) { delete static_cast<Shared*>(owner); }};
}

Result<std::vector<BufferPtr>> FromGpu(const std::vector<const arrow::Buffer*>& sources,
                                       const ManagerPtr& to, const Order& order) {
  ARROW_ASSIGN_OR_RAISE(const auto from, BorrowedBuffers::From(sources));
  return AsBuffers(from.size(), to, [&](BufferPlace* made) {
    return Call(Rust().copies_of_buffers, ContextOf(*to), order.stream, from.data(), from.size(),
                Share(order), made);
  });
}

Status GpuToHost(const Sources& sources, arrow::MemoryPool* pool, const ManagerPtr& to,
                 const Order& order, std::vector<BufferPtr>* copies) {
  ARROW_ASSIGN_OR_RAISE(const auto from, BorrowedBuffers::From(sources.buffers));
  if (order.stream != nullptr) {
    ARROW_RETURN_NOT_OK(Call(Rust().stream_await_for, order.stream, from.data(), from.size()));
  }
  std::vector<HostTarget> targets;
  targets.reserve(from.size());
  Slab<PoolBuffer> slab(from.size());
  for (size_t index = 0; index < from.size(); ++index) {
    const int64_t size = sources.buffers[index]->size();
    // Each has memory of its own, so that a column that outlives the others keeps only itself.
    auto copy = slab.Make(pool, to);
    ARROW_RETURN_NOT_OK(copy->Allocate(size));
    targets.push_back({copy->mutable_data(), static_cast<size_t>(size)});
    (*copies)[sources.numbers[index]] = std::move(copy);
  }
  return Call(Rust().copy_all_to_host, from.data(), targets.data(), targets.size());
}

Status HostToHost(const Sources& sources, const ManagerPtr& to, std::vector<BufferPtr>* copies) {
  for (size_t index = 0; index < sources.size(); ++index) {
    ARROW_ASSIGN_OR_RAISE((*copies)[sources.numbers[index]],
                          arrow::MemoryManager::CopyNonOwned(*sources.buffers[index], to));
  }
  return Status::OK();
}

}  // namespace

Status WaitForAll(const std::vector<const arrow::Buffer*>& sources, const RustStream* stream) {
  const arrow::Device::SyncEvent* reached = nullptr;
  for (const auto* source : sources) {
    ARROW_RETURN_NOT_OK(CheckSpan(*source));
    // The buffers of one producer have one event.
    const auto event = EventOf(*source);
    if (event == nullptr || event.get() == reached) continue;
    const auto* ours = dynamic_cast<const Device::SyncEvent*>(event.get());
    if (stream != nullptr && ours != nullptr && ours->rust() != nullptr) {
      ARROW_RETURN_NOT_OK(Call(Rust().stream_wait_event, stream, ours->rust()));
    } else {
      ARROW_RETURN_NOT_OK(event->Wait());
    }
    reached = event.get();
  }
  return Status::OK();
}

Result<std::optional<std::vector<BufferPtr>>> CopyHostBuffers(
    const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to, const Order& order) {
  std::vector<HostRange> ranges;
  ranges.reserve(sources.size());
  for (const auto* source : sources) {
    ranges.push_back({source->data(), static_cast<size_t>(source->size())});
  }
  return AsBuffers(ranges.size(), to, [&](BufferPlace* made) {
    return Call(Rust().copies_of_host, ContextOf(*to), order.stream, ranges.data(), ranges.size(),
                Share(order), made);
  });
}

Status CopyBodyBuffers(const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to,
                         const RustBodyReader* bodies, const UseCopies& use) {
  if (sources.empty()) return use({});
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> sizes;
  for (const auto* source : sources) {
    addresses.push_back(source->address());
    sizes.push_back(static_cast<uint64_t>(source->size()));
  }
  std::vector<BufferPlace> places(sources.size());
  const auto take = [&]() -> Status {
    const auto moved = [&](BufferPlace* made) {
      std::copy(places.begin(), places.end(), made);
      return Status::OK();
    };
    ARROW_ASSIGN_OR_RAISE(auto copies, AsBuffers(places.size(), to, moved));
    return use(std::move(copies));
  };
  return Call(Rust().copies_of_bodies, bodies, ContextOf(*to), addresses.data(), sizes.data(),
              places.size(), places.data(), CallbackTo(take));
}

Result<std::optional<std::vector<BufferPtr>>> CopyBuffers(
    const std::vector<const arrow::Buffer*>& sources, const ManagerPtr& to, const Order& order) {
  const auto* host = dynamic_cast<const arrow::CPUMemoryManager*>(to.get());
  if (host == nullptr && !IsCuda(*to)) return std::nullopt;
  const auto parted = Parted::From(sources);
  if (!parted.has_value()) return std::nullopt;
  if (host != nullptr && parted->of_gpu.size() == 0) return std::nullopt;
  ARROW_RETURN_NOT_OK(WaitForAll(sources, order.stream));
  std::vector<BufferPtr> copies(sources.size());
  if (host == nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto of_host, CopyHostBuffers(parted->of_host.buffers, to, order));
    parted->of_host.Store(*std::move(of_host), &copies);
    ARROW_ASSIGN_OR_RAISE(auto of_gpu, FromGpu(parted->of_gpu.buffers, to, order));
    parted->of_gpu.Store(std::move(of_gpu), &copies);
  } else {
    ARROW_RETURN_NOT_OK(GpuToHost(parted->of_gpu, host->pool(), to, order, &copies));
    ARROW_RETURN_NOT_OK(HostToHost(parted->of_host, to, &copies));
  }
  return copies;
}

}  // namespace arrow_cuda
