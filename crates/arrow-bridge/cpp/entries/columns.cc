// Columns for and of other libraries, by the addresses of their memory.
#include "entries/entries.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "arrow/type.h"
#include "border/rust.h"
#include "border/status.h"
#include "c_data/c_device.h"
#include "c_data/null_count.h"
#include "memory/buffer.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {
namespace {

// The array, or the only chunk of a chunked array; null for other objects.
DataPtr OneArray(PyObject* object) {
  if (const auto array = Unwrap<arrow::Array>(object)) return array->data();
  const auto chunks = Unwrap<arrow::ChunkedArray>(object);
  return chunks != nullptr && chunks->num_chunks() == 1 ? chunks->chunk(0)->data() : nullptr;
}

// Whether an array without parts has all its bytes on a device.
bool IsFlatOnDevice(const ArrayData& data) {
  if (!data.child_data.empty() || data.buffers.size() > std::size(FlatArray{}.sizes)) return false;
  return std::ranges::all_of(data.buffers, [](const auto& buffer) {
    return buffer == nullptr || buffer->size() == 0 || IsOnDevice(*buffer);
  });
}

FlatArray FlatFrom(const ArrayData& data) {
  FlatArray found{data.offset, data.GetNullCount(), data.buffers.size(), {}, {}};
  for (size_t place = 0; place < data.buffers.size(); ++place) {
    const auto* buffer = data.buffers[place].get();
    found.addresses[place] = buffer == nullptr ? 0 : buffer->address();
    found.sizes[place] = buffer == nullptr ? -1 : buffer->size();
  }
  return found;
}

using Buffers = std::vector<Handle<RustBuffer>>;

Result<DataPtr> ArrayOver(const NewColumn& column, Buffers buffers, const TypePtr& type) {
  arrow::BufferVector made;
  for (auto& buffer : buffers) {
    if (buffer == nullptr) {
      made.push_back(nullptr);
    } else {
      ARROW_ASSIGN_OR_RAISE(made.emplace_back(), DeviceBuffer::Make(std::move(buffer)));
    }
  }
  return ArrayData::Make(type, column.length, std::move(made), column.nulls);
}

// The chunks of a column.
Result<ChunkedPtr> ChunksOf(const NewColumn& column, Buffers buffers, const TypePtr& type) {
  if (column.ready == nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto data, ArrayOver(column, std::move(buffers), type));
    return std::make_shared<arrow::ChunkedArray>(arrow::MakeArray(std::move(data)));
  }
  if (auto chunks = Unwrap<arrow::ChunkedArray>(column.ready)) return chunks;
  if (auto array = Unwrap<arrow::Array>(column.ready)) {
    return std::make_shared<arrow::ChunkedArray>(std::move(array));
  }
  return Status::TypeError("expected an array or a chunked array");
}

Result<PyObject*> TableOf(const SchemaPtr& schema, std::vector<ChunkedPtr> columns, bool is_table) {
  const int64_t length = columns.empty() ? 0 : columns[0]->length();
  for (size_t place = 0; place < columns.size(); ++place) {
    const auto& column = *columns[place];
    const auto& type = *schema->field(static_cast<int>(place))->type();
    if (column.length() != length || !column.type()->Equals(type)) {
      return Status::Invalid("column ", place, " has ", column.length(), " values of the type ",
                             column.type()->ToString(), ", not ", length, " of ", type.ToString());
    }
  }
  if (is_table) return Wrap(arrow::Table::Make(schema, std::move(columns), length));
  ArrayDataVector arrays;
  for (const auto& column : columns) {
    if (column->num_chunks() != 1) return Status::TypeError("expected arrays");
    arrays.push_back(column->chunk(0)->data());
  }
  return Wrap(arrow::RecordBatch::Make(schema, length, std::move(arrays),
                                       arrow::DeviceAllocationType::kCUDA));
}

}  // namespace

Failure DescribeFlatEntry(PyObject* const* objects, size_t count, FlatArray* out) noexcept {
  return Guard([&]() -> Status {
    ArrayDataVector all;
    ArrayDataVector flat;
    for (size_t place = 0; place < count; ++place) {
      auto data = OneArray(objects[place]);
      if (data != nullptr && !IsFlatOnDevice(*data)) data = nullptr;
      if (data != nullptr) flat.push_back(data);
      all.push_back(std::move(data));
    }
    ARROW_RETURN_NOT_OK(CountNulls(flat));
    if (const int32_t device = DeviceOf(flat); device >= 0) {
      WithoutGil unlocked;
      ARROW_RETURN_NOT_OK(MakeReady(flat, device));
    }
    for (size_t place = 0; place < count; ++place) {
      if (all[place] != nullptr) out[place] = FlatFrom(*all[place]);
    }
    return Status::OK();
  });
}

Outcome<PyObject*> TableOverEntry(PyObject* schema_object, const NewColumn* columns, size_t count,
                                  bool is_table) noexcept {
  return GuardValue([&]() -> Result<PyObject*> {
    std::vector<Buffers> owned(count);
    for (size_t place = 0; place < count; ++place) {
      const auto& buffers = columns[place].buffers;
      for (size_t each = 0; each < columns[place].count; ++each) {
        owned[place].emplace_back(buffers[each]);
      }
    }
    ARROW_ASSIGN_OR_RAISE(const auto schema, Require<arrow::Schema>(schema_object));
    if (static_cast<size_t>(schema->num_fields()) != count) {
      return Status::Invalid(count, " columns, ", schema->num_fields(), " needed");
    }
    std::vector<ChunkedPtr> made;
    for (size_t place = 0; place < count; ++place) {
      ARROW_ASSIGN_OR_RAISE(made.emplace_back(),
                            ChunksOf(columns[place], std::move(owned[place]),
                                     schema->field(static_cast<int>(place))->type()));
    }
    return TableOf(schema, std::move(made), is_table);
  });
}

}  // namespace arrow_cuda
