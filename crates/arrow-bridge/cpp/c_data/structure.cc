#include "c_data/structure.h"

#include <cstdint>
#include <string_view>

#include "arrow/type.h"
#include "arrow/type_traits.h"
#include "messages/check.h"

namespace arrow_cuda {
namespace {

Status Missing(std::string_view what) {
  return Status::Invalid("the structure has a null pointer in place of ", what);
}

Status TooDeep() { return Status::Invalid("the structure is nested too deeply"); }

// Nothing else of a released structure may be read.
template <typename Structure>
Status RequireLive(const Structure& structure, const char* name) {
  if (structure.release != nullptr) return Status::OK();
  return Status::Invalid("Cannot import released ", name);
}

Status Check(const ArrowSchema& schema, int depth) {
  if (depth > kMaxDepth) return TooDeep();
  ARROW_RETURN_NOT_OK(RequireLive(schema, "ArrowSchema"));
  if (schema.format == nullptr) return Missing("its format");
  // libarrow would make a list of this length.
  if (schema.n_children < 0) {
    return Status::Invalid("a type has a negative number of children: ", schema.n_children);
  }
  if (schema.n_children > 0 && schema.children == nullptr) return Missing("its children");
  for (int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr) return Missing("a child");
    ARROW_RETURN_NOT_OK(Check(*schema.children[i], depth + 1));
  }
  return schema.dictionary == nullptr ? Status::OK() : Check(*schema.dictionary, depth + 1);
}

// The description of an array, by a schema or a type: its children, the values of a dictionary, whether
// libarrow reads the sizes of its views' buffers, and whether it is a map.

int64_t ChildCount(const ArrowSchema& schema) { return schema.n_children; }
int64_t ChildCount(const DataType& type) { return StorageOf(type).num_fields(); }

const ArrowSchema& Child(const ArrowSchema& schema, int64_t i) { return *schema.children[i]; }
const DataType& Child(const DataType& type, int64_t i) {
  return *StorageOf(type).field(static_cast<int>(i))->type();
}

const ArrowSchema* ValuesOf(const ArrowSchema& schema) { return schema.dictionary; }
const DataType* ValuesOf(const DataType& type) {
  const DataType& storage = StorageOf(type);
  if (storage.id() != Type::DICTIONARY) return nullptr;
  return static_cast<const arrow::DictionaryType&>(storage).value_type().get();
}

bool HasViews(const ArrowSchema& schema) { return *schema.format == 'v'; }
bool HasViews(const DataType& type) { return arrow::is_binary_view_like(type.storage_id()); }

bool IsMap(const ArrowSchema& schema) { return std::string_view(schema.format) == "+m"; }
bool IsMap(const DataType& type) { return type.storage_id() == Type::MAP; }

bool IsNull(const ArrowSchema& schema) { return std::string_view(schema.format) == "n"; }
bool IsNull(const DataType& type) { return type.storage_id() == Type::NA; }

// Unions and runs: others say where their values are null.
bool HasNoBitmap(const ArrowSchema& schema) {
  const std::string_view format(schema.format);
  return format.starts_with("+u") || format.starts_with("+r");
}
bool HasNoBitmap(const DataType& type) {
  return arrow::is_union(type.storage_id()) || type.storage_id() == Type::RUN_END_ENCODED;
}

// The keys of a map, or its entries.
template <typename Description>
Status CheckKeys(ArrowArray* keys, const Description& described, ReadOnHost* reads) {
  if (IsNull(described)) {
    if (keys->length > 0) return KeysAreNull();
    keys->null_count = 0;
  }
  // libarrow believes any count.
  if (HasNoBitmap(described) && keys->null_count < 0) keys->null_count = 0;
  const bool has_bitmap =
      keys->n_buffers > 0 && keys->buffers != nullptr && keys->buffers[0] != nullptr;
  if (keys->null_count == 0 || !has_bitmap) return Status::OK();
  if (keys->null_count > 0) return KeysAreNull();
  reads->maps.push_back(keys);
  return Status::OK();
}

// A child of an array whose counts are those that are described.
template <typename Description>
Status CheckMap(ArrowArray* entries, const Description& described, ReadOnHost* reads) {
  ARROW_RETURN_NOT_OK(CheckKeys(entries, described, reads));
  if (entries->n_children == 0 || entries->n_children != ChildCount(described)) {
    return Status::OK();
  }
  return CheckKeys(entries->children[0], Child(described, 0), reads);
}

template <typename Description>
Status Check(ArrowArray* checked, const Description& described, ReadOnHost* reads, int depth) {
  const ArrowArray& array = *checked;
  if (depth > kMaxDepth) return TooDeep();
  ARROW_RETURN_NOT_OK(RequireLive(array, "ArrowArray"));
  ARROW_RETURN_NOT_OK(CheckRange(array));
  if (array.n_buffers > 0 && array.buffers == nullptr) return Missing("its buffers");
  if (array.n_children != ChildCount(described)) return Status::OK();
  if (array.n_children > 0 && array.children == nullptr) return Missing("its children");
  for (int64_t i = 0; i < array.n_children; ++i) {
    if (array.children[i] == nullptr) return Missing("a child");
    ARROW_RETURN_NOT_OK(Check(array.children[i], Child(described, i), reads, depth + 1));
  }
  if (IsMap(described) && array.n_children == 1) {
    ARROW_RETURN_NOT_OK(CheckMap(array.children[0], Child(described, 0), reads));
  }
  const auto* values = ValuesOf(described);
  if (values != nullptr && array.dictionary != nullptr) {
    ARROW_RETURN_NOT_OK(Check(array.dictionary, *values, reads, depth + 1));
  }
  // Validity and views come before the buffers, and the sizes after them.
  if (HasViews(described) && array.n_buffers > 3) {
    if (array.buffers[array.n_buffers - 1] == nullptr) return Missing("the sizes of buffers");
    reads->views.push_back(checked);
  }
  return Status::OK();
}

}  // namespace

Status KeysAreNull() { return Status::Invalid("a map has keys that are null"); }

Status CheckRange(const ArrowArray& array) {
  int64_t end = 0;
  if (array.length < 0 || array.offset < 0 ||
      __builtin_add_overflow(array.length, array.offset, &end)) {
    return Status::Invalid("an impossible length: ", array.length, " values from ", array.offset,
                           " on");
  }
  return Status::OK();
}

Status CheckStructure(const ArrowSchema& schema) { return Check(schema, 0); }

Status CheckStructure(ArrowArray* array, const ArrowSchema& schema, ReadOnHost* reads) {
  return array->release == nullptr ? Status::OK() : Check(array, schema, reads, 0);
}

Status CheckStructure(ArrowArray* array, const DataType& type, ReadOnHost* reads) {
  return array->release == nullptr ? Status::OK() : Check(array, type, reads, 0);
}

}  // namespace arrow_cuda
