// Arrays and those within them, as Rust sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/buffer.h"
#include "border/ffi.h"
#include "border/names.h"

namespace arrow_cuda {

// How arrays of a type lie in memory, and a width: the bytes of an offset or value, or the size of a fixed-size list.
std::pair<Layout, uint64_t> LayoutOf(const DataType& type);

// Arrays in order, each followed by those within it.  The arrays must outlive the tree.
class Tree {
 public:
  Tree() = default;
  explicit Tree(const ArrayDataVector& arrays) {
    for (const auto& array : arrays) Add(*array);
  }

  void Add(const ArrayData& data, uint8_t type_id = 0);

  // Of no bytes where an array lacks the buffer.
  std::vector<uint64_t> Sizes() const;

  std::vector<ArrayNode> nodes;
  // Each points to an array's buffer, which is null if the array lacks it; a missing validity bitmap has no entry.
  std::vector<const BufferPtr*> buffers;
};

// Lets Rust read a tree's offsets, whichever memory they lie in.  Both have to outlive the result.
struct TreeReader {
  const Tree& tree;
  // May be null.
  const RustStream* stream;

  OffsetReader ForRust();

 private:
  static Failure Read(void* state, const Wanted* wanted, size_t count, uint64_t* out) noexcept;
  Status ReadAll(const Wanted* wanted, size_t count, uint64_t* out) const;
};

}  // namespace arrow_cuda
