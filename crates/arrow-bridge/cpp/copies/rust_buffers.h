// Passes many of Rust's buffers at once to a call, and receives them from one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "arrow/buffer.h"
#include "border/ffi.h"
#include "border/rust.h"
#include "memory/buffer.h"
#include "memory/resolve.h"
#include "memory/slab.h"

namespace arrow_cuda {

// The device memory of buffers, for one call.
class BorrowedBuffers {
 public:
  // Null stays null.
  static Result<BorrowedBuffers> From(const std::vector<const arrow::Buffer*>& buffers) {
    BorrowedBuffers all;
    all.rust_.reserve(buffers.size());
    for (const auto* buffer : buffers) {
      if (buffer == nullptr) {
        all.rust_.push_back(nullptr);
        continue;
      }
      if (const auto* ours = AsDeviceBuffer(*buffer)) {
        all.rust_.push_back(ours->rust());
        continue;
      }
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

// Buffers that Rust has made, until objects take them over.
class MadeBuffers {
 public:
  // `make` returns how many it has made, at most `room`.
  template <typename Make>
  static Result<MadeBuffers> By(size_t room, Make&& make) {
    std::vector<BufferPlace> places(room);
    ARROW_ASSIGN_OR_RAISE(const size_t count, make(places.data()));
    places.resize(count);
    return MadeBuffers(std::move(places));
  }

  size_t size() const { return places_.size(); }

  MadeBuffers(MadeBuffers&&) = default;

  ~MadeBuffers() {
    for (; next_ < places_.size(); ++next_) Rust().buffer_release_at(&places_[next_]);
  }

  // An object that owns the next one.
  std::shared_ptr<DeviceBuffer> Next(Slab<DeviceBuffer>* slab, const ManagerPtr& manager) {
    auto buffer = slab->Make(places_[next_], manager);
    ++next_;
    return buffer;
  }

 private:
  explicit MadeBuffers(std::vector<BufferPlace> places) : places_(std::move(places)) {}

  std::vector<BufferPlace> places_;
  size_t next_ = 0;
};

}  // namespace arrow_cuda
