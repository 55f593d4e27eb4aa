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

// How arrays of a type lie in memory, and the width that the layout names.
std::pair<Layout, uint64_t> LayoutOf(const DataType& type);

// Arrays, which are one after the other, with the arrays within each.  They have to outlive it.
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
  // Those that an array lacks are null.
  std::vector<const BufferPtr*> buffers;
};

// Has Rust read offsets of a tree in any memory.  Both have to outlive the result.
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
