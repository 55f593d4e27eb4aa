#include "copies/join.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "border/calls.h"
#include "copies/buffers.h"
#include "copies/dictionaries.h"
#include "copies/rust_buffers.h"
#include "copies/tree.h"
#include "c_data/null_count.h"
#include "memory/device.h"
#include "memory/on_device.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

// The buffers of a tree with their bytes ready; null for absent ones.
Result<std::vector<const arrow::Buffer*>> ReadyBuffers(const Tree& tree, int32_t device) {
  std::vector<const arrow::Buffer*> all;
  std::vector<const arrow::Buffer*> filled;
  for (const auto* buffer : tree.buffers) {
    const bool is_filled = *buffer != nullptr && (*buffer)->size() > 0;
    all.push_back(is_filled ? buffer->get() : nullptr);
    if (!is_filled) continue;
    if (!IsOnDevice(**buffer) || NumberOf(**buffer) != device) {
      return Status::NotImplemented(
          "the chunks do not all lie on one device: copy_to() brings them to one");
    }
    filled.push_back(buffer->get());
  }
  ARROW_RETURN_NOT_OK(WaitForAll(filled, nullptr));
  return all;
}

int64_t NullsOf(const ArrayDataVector& chunks) {
  int64_t nulls = 0;
  for (const auto& chunk : chunks) {
    const int64_t more = chunk->null_count.load();
    if (more == arrow::kUnknownNullCount) return more;
    nulls += more;
  }
  return nulls;
}

// The arrays of the result, in Rust's order.
class Results {
 public:
  Results(std::vector<Joined> joined, MadeBuffers made, ManagerPtr manager)
      : joined_(std::move(joined)),
        made_(std::move(made)),
        slab_(made_.size()),
        manager_(std::move(manager)) {}

  DataPtr Of(const ArrayDataVector& chunks, bool is_whole = true) {
    const auto joined = joined_[next_++];
    const auto& first = *chunks.front();
    auto result = std::make_shared<ArrayData>(first.type, static_cast<int64_t>(joined.length), 0);
    if (joined.has_validity) {
      // Of the arrays within others, only a part may be reached.
      result->null_count = is_whole ? NullsOf(chunks) : arrow::kUnknownNullCount;
    } else if (first.type->storage_id() == Type::NA) {
      result->null_count = result->length;
    }
    if (!joined.has_validity) result->buffers.push_back(nullptr);
    for (uint32_t number = 0; number < joined.buffers; ++number) {
      result->buffers.push_back(made_.Next(&slab_, manager_));
    }
    if (LayoutOf(StorageOf(*first.type)).first == Layout::kBinaryView) {
      for (const auto& chunk : chunks) {
        result->buffers.insert(result->buffers.end(), chunk->buffers.begin() + 2,
                               chunk->buffers.end());
      }
    }
    for (size_t number = 0; number < first.child_data.size(); ++number) {
      ArrayDataVector children;
      for (const auto& chunk : chunks) children.push_back(chunk->child_data[number]);
      result->child_data.push_back(Of(children, false));
    }
    result->dictionary = first.dictionary;
    return result;
  }

 private:
  const std::vector<Joined> joined_;
  MadeBuffers made_;
  Slab<DeviceBuffer> slab_;
  const ManagerPtr manager_;
  size_t next_ = 0;
};

}  // namespace

Result<ArrayDataVector> Join(std::vector<ArrayDataVector> columns) {
  if (columns.empty()) return ArrayDataVector{};
  const int32_t device = DeviceOf(columns.front());
  ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device));
  Tree tree;
  std::vector<size_t> counts;
  size_t most = 0;
  for (auto& chunks : columns) {
    ARROW_ASSIGN_OR_RAISE(chunks, WithOneDictionary(std::move(chunks), manager));
    counts.push_back(chunks.size());
    for (size_t number = 0; number < chunks.size(); ++number) {
      const size_t before = tree.nodes.size();
      ARROW_RETURN_NOT_OK(tree.Add(*chunks[number]));
      if (number == 0) most += tree.nodes.size() - before;
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto buffers, ReadyBuffers(tree, device));
  ARROW_ASSIGN_OR_RAISE(const auto borrowed, BorrowedBuffers::From(buffers));
  TreeReader reader(tree, nullptr);
  std::vector<Joined> joined(most);
  // No layout has more than two buffers and a bitmap.
  const auto make = [&](BufferPlace* made) {
    return Call(Rust().join, ContextOf(*manager), tree.nodes.data(), tree.nodes.size(), counts.data(),
                counts.size(), borrowed.data(), tree.sizes.data(), tree.sizes.size(), reader.ForRust(),
                joined.data(), made);
  };
  ARROW_ASSIGN_OR_RAISE(auto made, MadeBuffers::By(3 * most, make));
  Results results(std::move(joined), std::move(made), manager);
  ArrayDataVector arrays;
  for (const auto& chunks : columns) arrays.push_back(results.Of(chunks));
  if (HasUncountedNulls(arrays)) ARROW_RETURN_NOT_OK(CountNulls(arrays));
  return arrays;
}

}  // namespace arrow_cuda
