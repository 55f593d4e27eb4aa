#include "copies/arrays.h"

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "copies/buffers.h"

namespace arrow_cuda {
namespace {

using arrow::ArrayData;
using DataPtr = std::shared_ptr<ArrayData>;

// The buffers of arrays.
class Collection {
 public:
  void Add(const ArrayData& data) {
    for (const auto& buffer : data.buffers) {
      if (buffer != nullptr) Add(buffer.get());
    }
    for (const auto& child : data.child_data) {
      if (child != nullptr) Add(*child);
    }
    if (data.dictionary != nullptr) Add(*data.dictionary);
  }

  // Each buffer once, in the order in which the arrays first refer to it.
  const std::vector<const arrow::Buffer*>& buffers() const { return buffers_; }

  // Which buffer each reference is to, in the order of `Add`.
  const std::vector<size_t>& references() const { return references_; }

 private:
  void Add(const arrow::Buffer* buffer) {
    const auto [known, is_new] = numbers_.try_emplace(buffer, buffers_.size());
    if (is_new) buffers_.push_back(buffer);
    references_.push_back(known->second);
  }

  std::unordered_map<const arrow::Buffer*, size_t> numbers_;
  std::vector<const arrow::Buffer*> buffers_;
  std::vector<size_t> references_;
};

// Arrays with copies in place of their buffers.
class Replacement {
 public:
  Replacement(const std::vector<size_t>& references,
              const std::vector<std::shared_ptr<arrow::Buffer>>& copies)
      : next_(references.begin()), copies_(copies) {}

  // In the order of `Collection::Add`.
  DataPtr Of(const ArrayData& data) {
    auto copy = std::make_shared<ArrayData>(data.type, data.length, data.null_count, data.offset);
    copy->buffers.reserve(data.buffers.size());
    for (const auto& buffer : data.buffers) {
      copy->buffers.push_back(buffer == nullptr ? nullptr : copies_[*next_++]);
    }
    copy->child_data.reserve(data.child_data.size());
    for (const auto& child : data.child_data) {
      copy->child_data.push_back(child == nullptr ? nullptr : Of(*child));
    }
    if (data.dictionary != nullptr) copy->dictionary = Of(*data.dictionary);
    return copy;
  }

 private:
  std::vector<size_t>::const_iterator next_;
  const std::vector<std::shared_ptr<arrow::Buffer>>& copies_;
};

}  // namespace

arrow::Result<std::optional<arrow::ArrayDataVector>> CopyArrays(
    const arrow::ArrayDataVector& arrays, const std::shared_ptr<arrow::MemoryManager>& to) {
  Collection collection;
  for (const auto& array : arrays) collection.Add(*array);
  if (!CanCopyBuffers(collection.buffers(), *to)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto copies, CopyBuffers(collection.buffers(), to));
  Replacement replacement(collection.references(), copies);
  arrow::ArrayDataVector copied;
  copied.reserve(arrays.size());
  for (const auto& array : arrays) copied.push_back(replacement.Of(*array));
  return copied;
}

}  // namespace arrow_cuda
