#include "messages/check.h"

#include <string>

#include "arrow/buffer.h"
#include "arrow/extension_type.h"
#include "arrow/type.h"
#include "arrow/type_traits.h"

namespace arrow_cuda {
namespace {

using arrow::DataTypeLayout;

// Error texts begin after the position in the batch, which the caller prepends: most arrays are
// valid, so their position is never needed.
class Checker {
 public:
  Status Check(const ArrayData& data) {
    if (data.type == nullptr) return Wrong("has no type");
    const DataType& type = StorageOf(*data.type);
    ARROW_RETURN_NOT_OK(CheckCounts(data, type));
    ARROW_RETURN_NOT_OK(CheckBuffers(data, type));
    ARROW_RETURN_NOT_OK(CheckChildren(data, type));
    return CheckDictionary(data, type);
  }

 private:
  template <typename... Args>
  Status Wrong(Args&&... args) const { return Status::Invalid(" ", std::forward<Args>(args)...); }

  Status Step(const std::string& step, const DataPtr& data) const {
    if (data == nullptr) return Wrong("has no ", step);
    const Status status = Checker().Check(*data);
    return status.ok() ? status : status.WithMessage(", ", step, status.message());
  }

  Status CheckCounts(const ArrayData& data, const DataType& type) {
    if (data.length < 0) return Wrong("has a negative length: ", data.length);
    if (data.offset < 0) return Wrong("has a negative offset: ", data.offset);
    if (__builtin_add_overflow(data.offset, data.length, &end_)) {
      return Wrong("is impossibly long: offset ", data.offset, ", length ", data.length);
    }
    const int64_t nulls = data.null_count;
    if (nulls > data.length || (nulls < 0 && nulls != arrow::kUnknownNullCount)) {
      return Wrong("has an impossible null count: ", nulls, " of ", data.length);
    }
    const bool has_bitmap = !data.buffers.empty() && data.buffers[0] != nullptr;
    if (nulls > 0 && type.id() != Type::NA && !has_bitmap) {
      return Wrong("has ", nulls, " nulls and no validity bitmap");
    }
    return Status::OK();
  }

  Status CheckBuffers(const ArrayData& data, const DataType& type) {
    const DataTypeLayout& layout = LayoutOf(type);
    const size_t fixed = layout.buffers.size();
    const size_t count = data.buffers.size();
    if (count < fixed || (count > fixed && !layout.variadic_spec.has_value())) {
      return Wrong("has ", count, " buffers, ", fixed, " needed");
    }
    for (size_t i = 0; i < fixed; ++i) {
      ARROW_RETURN_NOT_OK(CheckBuffer(data, type, layout.buffers[i], i));
    }
    for (size_t i = fixed; i < count; ++i) {
      // Older libarrows have null for the characters where all strings are short.
      const arrow::Buffer* characters = data.buffers[i].get();
      if (characters != nullptr && characters->size() < 0) {
        return Wrong("has a negative size in buffer ", i);
      }
    }
    return Status::OK();
  }

  Status CheckBuffer(const ArrayData& data, const DataType& type,
                     const DataTypeLayout::BufferSpec& spec, size_t index) const {
    const bool is_offsets = index == 1 && HasEndOffset(type.id());
    const int64_t size = data.buffers[index] == nullptr ? 0 : data.buffers[index]->size();
    if (size < 0) return Wrong("has a negative size in buffer ", index, ": ", size);
    const bool sized =
        spec.kind == DataTypeLayout::BITMAP || spec.kind == DataTypeLayout::FIXED_WIDTH;
    const bool optional_bitmap = index == 0 && data.buffers[index] == nullptr;
    // An empty array needs no offsets, but readers that find a buffer read the first one.
    if (!sized || optional_bitmap || (data.length == 0 && !(is_offsets && size > 0))) {
      return Status::OK();
    }
    int64_t entries = end_;
    int64_t needed = 0;
    bool overflow = is_offsets && __builtin_add_overflow(entries, 1, &entries);
    if (spec.kind == DataTypeLayout::BITMAP) {
      needed = entries / 8 + (entries % 8 != 0);
    } else {
      overflow = overflow || __builtin_mul_overflow(entries, spec.byte_width, &needed);
    }
    if (overflow) return Wrong("is impossibly long: ", end_, " values");
    if (size < needed) {
      return Wrong("has ", size, " bytes in buffer ", index, ", ", needed, " needed");
    }
    return Status::OK();
  }

  Status CheckChildren(const ArrayData& data, const DataType& type) const {
    const auto fields = static_cast<size_t>(type.num_fields());
    const auto& children = data.child_data;
    if (children.size() != fields) {
      return Wrong("has ", children.size(), " children, ", fields, " needed");
    }
    for (size_t i = 0; i < fields; ++i) {
      const auto& field = *type.field(static_cast<int>(i));
      ARROW_RETURN_NOT_OK(Step("child " + std::to_string(i) + " '" + field.name() + "'",
                               children[i]));
      if (!children[i]->type->Equals(*field.type())) {
        return Wrong("has a child ", i, " of type ", children[i]->type->ToString());
      }
    }
    return CheckChildLengths(children, type);
  }

  Status CheckChildLengths(const ArrayDataVector& children, const DataType& type) const {
    switch (type.id()) {
      case Type::STRUCT:
      case Type::SPARSE_UNION:
        for (const auto& child : children) {
          if (child->length < end_) return TooFewValues(child->length, end_);
        }
        return Status::OK();
      case Type::FIXED_SIZE_LIST: {
        const int64_t width = static_cast<const arrow::FixedSizeListType&>(type).list_size();
        int64_t needed = 0;
        if (width < 0 || __builtin_mul_overflow(end_, width, &needed)) {
          return Wrong("has impossible lists: ", end_, " of ", width, " values");
        }
        const int64_t length = children[0]->length;
        return length < needed ? TooFewValues(length, needed) : Status::OK();
      }
      case Type::RUN_END_ENCODED: {
        const ArrayData& runs = *children[0];
        const int64_t needed = end_ > 0 ? 1 : 0;
        if (runs.length < needed) return TooFewValues(runs.length, needed);
        if (runs.null_count > 0) return Wrong("has run ends that are null");
        const int64_t values = children[1]->length;
        return values < runs.length ? TooFewValues(values, runs.length) : Status::OK();
      }
      default:
        return Status::OK();
    }
  }

  Status TooFewValues(int64_t length, int64_t needed) const {
    return Wrong("has a child of ", length, " values, ", needed, " needed");
  }

  Status CheckDictionary(const ArrayData& data, const DataType& type) const {
    if (type.id() == Type::DICTIONARY) return Step("dictionary", data.dictionary);
    return data.dictionary == nullptr ? Status::OK() : Wrong("has an unexpected dictionary");
  }

  // libarrow makes a layout anew each time; columns of one type often follow each other.
  const DataTypeLayout& LayoutOf(const DataType& type) {
    if (type_ != &type) layout_ = type.layout();
    type_ = &type;
    return layout_;
  }

  // One past the last value, offset included.
  int64_t end_ = 0;
  const DataType* type_ = nullptr;
  DataTypeLayout layout_{{}};
};

}  // namespace

bool HasEndOffset(Type::type id) {
  return arrow::is_base_binary_like(id) || arrow::is_var_length_list(id);
}

const DataType& StorageOf(const DataType& type) {
  const DataType* storage = &type;
  while (storage->id() == Type::EXTENSION) {
    storage = static_cast<const arrow::ExtensionType*>(storage)->storage_type().get();
  }
  return *storage;
}

Status CheckBatch(const arrow::RecordBatch& batch) {
  if (batch.schema()->num_fields() != batch.num_columns()) {
    return Status::Invalid("Malformed batch: ", batch.num_columns(), " columns, ",
                           batch.schema()->num_fields(), " needed");
  }
  Checker checker;
  for (int i = 0; i < batch.num_columns(); ++i) {
    const DataPtr data = batch.column_data(i);
    Status status;
    if (data == nullptr || data->length != batch.num_rows()) {
      status = Status::Invalid(" does not have the batch's length, ", batch.num_rows());
    } else {
      status = checker.Check(*data);
    }
    if (!status.ok()) {
      return status.WithMessage("Malformed batch: column ", i, " '", batch.column_name(i), "'",
                                status.message());
    }
  }
  return Status::OK();
}

}  // namespace arrow_cuda
