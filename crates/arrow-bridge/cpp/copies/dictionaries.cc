#include "copies/dictionaries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrow/array/array_dict.h"
#include "arrow/array/util.h"
#include "arrow/buffer.h"
#include "arrow/compare.h"
#include "arrow/type.h"
#include "border/calls.h"
#include "copies/arrays.h"
#include "copies/buffers.h"
#include "copies/rust_buffers.h"
#include "memory/identity.h"
#include "memory/traverse.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

bool AreSame(const ArrayData& a, const ArrayData& b) {
  if (&a == &b) return true;
  const auto is_same_buffer = [](const BufferPtr& ours, const BufferPtr& theirs) {
    if (ours == nullptr || theirs == nullptr) return ours == theirs;
    return IsSameMemory(*ours, *theirs);
  };
  const auto is_same_child = [](const DataPtr& ours, const DataPtr& theirs) {
    return AreSame(*ours, *theirs);
  };
  return a.length == b.length && a.offset == b.offset &&
         std::ranges::equal(a.buffers, b.buffers, is_same_buffer) &&
         std::ranges::equal(a.child_data, b.child_data, is_same_child);
}

Result<ArrayDataVector> Copies(const ArrayDataVector& arrays, const ManagerPtr& to) {
  ARROW_ASSIGN_OR_RAISE(const auto prepared, Prepare(arrays, to, nullptr));
  ARROW_ASSIGN_OR_RAISE(auto copies, CopyPrepared(prepared, to, nullptr));
  return copies.has_value() ? std::move(*copies) : arrays;
}

// The arrays with indices into `dictionary`: `maps` have the new index for each old one.
Result<ArrayDataVector> Recoded(const ArrayDataVector& arrays, const DataPtr& dictionary,
                                const std::vector<BufferPtr>& maps, const ManagerPtr& manager) {
  std::vector<const arrow::Buffer*> sources;
  for (const auto& map : maps) sources.push_back(map.get());
  for (const auto& array : arrays) sources.push_back(array->buffers[1].get());
  ARROW_ASSIGN_OR_RAISE(auto copies, CopyBuffers(sources, manager, {}));
  if (!copies.has_value()) return Status::Invalid("the indices do not lie on a device");
  const auto& type = static_cast<const arrow::DictionaryType&>(StorageOf(*arrays[0]->type));
  const std::vector<uint64_t> widths(arrays.size(), static_cast<uint64_t>(type.byte_width()));
  std::vector<const arrow::Buffer*> made;
  for (const auto& copy : *copies) made.push_back(copy.get());
  ARROW_ASSIGN_OR_RAISE(const auto borrowed, BorrowedBuffers::From(made));
  ARROW_RETURN_NOT_OK(Call(Rust().change_numbers, borrowed.data() + maps.size(), widths.data(), nullptr,
                           borrowed.data(), arrays.size()));
  ArrayDataVector recoded;
  for (size_t number = 0; number < arrays.size(); ++number) {
    recoded.push_back(arrays[number]->Copy());
    recoded.back()->buffers[1] = std::move((*copies)[maps.size() + number]);
    recoded.back()->dictionary = dictionary;
  }
  return recoded;
}

Result<ArrayDataVector> WithOneDictionaryEach(ArrayDataVector arrays, const ManagerPtr& manager) {
  ArrayDataVector dictionaries;
  bool is_one = true;
  for (const auto& array : arrays) {
    if (array->buffers[1] == nullptr) return Status::Invalid("a dictionary array has no indices");
    dictionaries.push_back(array->dictionary);
    is_one = is_one && AreSame(*dictionaries.front(), *array->dictionary);
  }
  if (is_one) return arrays;
  ARROW_ASSIGN_OR_RAISE(const auto copies, Copies(dictionaries, arrow::default_cpu_memory_manager()));
  const auto& type = static_cast<const arrow::DictionaryType&>(StorageOf(*arrays[0]->type));
  ARROW_ASSIGN_OR_RAISE(const auto unifier, arrow::DictionaryUnifier::Make(type.value_type()));
  const auto first = arrow::MakeArray(copies.front());
  bool is_equal = true;
  for (const auto& copy : copies) is_equal = is_equal && first->Equals(arrow::MakeArray(copy));
  if (is_equal) {
    for (auto& array : arrays) {
      array = array->Copy();
      array->dictionary = dictionaries.front();
    }
    return arrays;
  }
  std::vector<BufferPtr> maps(copies.size());
  for (size_t number = 0; number < copies.size(); ++number) {
    ARROW_RETURN_NOT_OK(unifier->Unify(*arrow::MakeArray(copies[number]), &maps[number]));
  }
  ArrayPtr unified;
  ARROW_RETURN_NOT_OK(unifier->GetResultWithIndexType(type.index_type(), &unified));
  ARROW_ASSIGN_OR_RAISE(const auto dictionary, Copies({unified->data()}, manager));
  return Recoded(arrays, dictionary.front(), maps, manager);
}

}  // namespace

Result<ArrayDataVector> WithOneDictionary(ArrayDataVector arrays, const ManagerPtr& manager) {
  const auto has_dictionary = [](const ArrayData& part) { return part.dictionary != nullptr; };
  if (arrays.size() < 2 || !AnyWithin(*arrays.front(), has_dictionary)) return arrays;
  if (arrays.front()->dictionary != nullptr) return WithOneDictionaryEach(std::move(arrays), manager);
  for (auto& array : arrays) array = array->Copy();
  for (size_t number = 0; number < arrays.front()->child_data.size(); ++number) {
    ArrayDataVector children;
    for (const auto& array : arrays) children.push_back(array->child_data[number]);
    ARROW_ASSIGN_OR_RAISE(children, WithOneDictionary(std::move(children), manager));
    for (size_t each = 0; each < arrays.size(); ++each) {
      arrays[each]->child_data[number] = std::move(children[each]);
    }
  }
  return arrays;
}

}  // namespace arrow_cuda
