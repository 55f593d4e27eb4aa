// Arrays and those within them, as Rust sees them.
#pragma once

#include <cstdint>
#include <map>
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
  static Result<Tree> Of(const ArrayDataVector& arrays);

  // Fails for buffers that contradict themselves.
  Status Add(const ArrayData& data, uint8_t type_id = 0);

  std::vector<ArrayNode> nodes;
  // Each points to an array's buffer, which is null if the array lacks it; a missing validity bitmap has no entry.
  std::vector<const BufferPtr*> buffers;
  // Of each of them, in bytes: 0 where the array lacks it.
  std::vector<uint64_t> sizes;
};

// The bytes that copies of these ranges of the buffers take, of which equal ones are copied once.
uint64_t BytesOf(const std::vector<const BufferPtr*>& buffers, const std::vector<ByteRange>& ranges);

// Lets Rust read a tree's offsets and views, whichever memory they lie in, and replace buffers.  Both have to
// outlive what it makes.
class TreeReader {
 public:
  // The stream may be null.
  TreeReader(const Tree& tree, const RustStream* stream) : tree_(tree), stream_(stream) {}

  NumberReader ForRust() { return {this, Read, Replace}; }

  // The buffers that take the place of parts, by the numbers of these.
  std::map<size_t, BufferPtr> TakeReplaced() { return std::move(replaced_); }

 private:
  static Outcome<bool> Read(void* state, const Wanted* wanted, size_t count, uint64_t* out) noexcept;
  static Failure Replace(void* state, size_t buffer, HostRange bytes) noexcept;
  bool IsWorthReading(const Wanted* wanted, size_t count) const;
  Status ReadAll(const Wanted* wanted, size_t count, uint64_t* out) const;

  const Tree& tree_;
  const RustStream* const stream_;
  std::map<size_t, BufferPtr> replaced_;
};

}  // namespace arrow_cuda
