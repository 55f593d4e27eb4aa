// Objects that are made together, side by side in few pieces of memory.
//
// Each has a shared_ptr of its own, and is destroyed with its last reference.  A piece of memory is
// freed with the last of its objects.  They are few, so an object that outlives the others retains
// some kilobytes of them, and nothing that they owned.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace arrow_cuda {

template <typename T>
class Slab {
 public:
  // For `count` objects; more take further pieces.
  explicit Slab(size_t count) : expected_(count) {}

  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  ~Slab() { LeavePiece(); }

  // A new object, which lies in the slab together with its count of references.
  template <typename... Args>
  std::shared_ptr<T> Make(Args&&... args) {
    return std::allocate_shared<T>(PieceAllocator<T>(NextPiece()), std::forward<Args>(args)...);
  }

 private:
  // Memory for some objects of one size, the first of which decides it.
  class Piece {
   public:
    explicit Piece(size_t capacity) : capacity_(capacity), owners_(capacity + 1) {}

    void* Take(size_t size) {
      if (memory_ == nullptr) {
        memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity_ * size);
      }
      return memory_.get() + taken_++ * size;
    }

    size_t unused() const { return capacity_ - taken_; }

    void Release(size_t owners) {
      if (owners_.fetch_sub(owners, std::memory_order_acq_rel) == owners) delete this;
    }

   private:
    const size_t capacity_;
    size_t taken_ = 0;
    // Every object, from the beginning also those to come, and the slab.
    std::atomic<size_t> owners_;
    std::unique_ptr<std::byte[]> memory_;
  };

  // The standard library's view of a piece: an allocator of one object.
  template <typename Object>
  struct PieceAllocator {
    using value_type = Object;

    explicit PieceAllocator(Piece* piece) : piece(piece) {}
    template <typename Other>
    PieceAllocator(const PieceAllocator<Other>& other) : piece(other.piece) {}

    Object* allocate(size_t) {
      static_assert(alignof(Object) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
      return static_cast<Object*>(piece->Take(sizeof(Object)));
    }
    void deallocate(Object*, size_t) { piece->Release(1); }

    template <typename Other>
    bool operator==(const PieceAllocator<Other>& other) const {
      return piece == other.piece;
    }

    Piece* piece;
  };

  Piece* NextPiece() {
    if (piece_ == nullptr || piece_->unused() == 0) {
      LeavePiece();
      const size_t capacity = std::clamp<size_t>(expected_, 1, kNeighbours);
      piece_ = new Piece(capacity);
      expected_ -= std::min(expected_, capacity);
    }
    return piece_;
  }

  void LeavePiece() {
    if (piece_ == nullptr) return;
    auto* piece = std::exchange(piece_, nullptr);
    piece->Release(1 + piece->unused());
  }

  static constexpr size_t kNeighbours = 64;

  size_t expected_;
  Piece* piece_ = nullptr;
};

}  // namespace arrow_cuda
