// pyarrow's Cython objects, without Python.h: their layout and their internal methods.
//
// Everything here requires the GIL, unless it says otherwise.
#pragma once

#include <cstddef>
#include <vector>

#include "arrow/array/array_base.h"
#include "arrow/buffer.h"
#include "arrow/chunked_array.h"
#include "arrow/io/interfaces.h"
#include "arrow/ipc/dictionary.h"
#include "arrow/memory_pool.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/rust.h"
#include "border/status.h"

namespace arrow_cuda {

// pyarrow's class for a class of libarrow: its conversions, and its name.
struct Class {
  Conversion PyarrowApi::* conversion;
  const char* name;
};

template <typename T>
constexpr Class kClass{};
template <>
inline constexpr Class kClass<arrow::Buffer>{&PyarrowApi::buffer, "Buffer"};
template <>
inline constexpr Class kClass<arrow::Array>{&PyarrowApi::array, "Array"};
template <>
inline constexpr Class kClass<arrow::RecordBatch>{&PyarrowApi::batch, "RecordBatch"};
template <>
inline constexpr Class kClass<arrow::ChunkedArray>{&PyarrowApi::chunked_array, "ChunkedArray"};
template <>
inline constexpr Class kClass<arrow::Table>{&PyarrowApi::table, "Table"};
template <>
inline constexpr Class kClass<arrow::Schema>{&PyarrowApi::schema, "Schema"};
template <>
inline constexpr Class kClass<DataType>{&PyarrowApi::data_type, "DataType"};

// Null when the object is not of that kind, or was made by `__new__` and never filled.
template <typename T>
std::shared_ptr<T> Unwrap(PyObject* object) {
  if (object == nullptr) return nullptr;
  using Function = std::shared_ptr<T>(PyObject*);
  return reinterpret_cast<Function*>((Pyarrow().*kClass<T>.conversion).unwrap)(object);
}

// As `Unwrap`, for an object that has to be of that kind.
template <typename T>
Result<std::shared_ptr<T>> Require(PyObject* object) {
  if (auto value = Unwrap<T>(object)) return value;
  return Status::TypeError("expected an initialised pyarrow.", kClass<T>.name);
}

template <typename T>
Result<PyObject*> Wrap(const std::shared_ptr<T>& value) {
  using Function = PyObject*(const std::shared_ptr<T>&);
  auto* object = reinterpret_cast<Function*>((Pyarrow().*kClass<T>.conversion).wrap)(value);
  if (object == nullptr) return PythonError();
  return object;
}

// New pyarrow objects; none if one cannot be made.
template <typename T>
Status WrapAll(const std::vector<std::shared_ptr<T>>& values, PyObject** out) {
  for (size_t number = 0; number < values.size(); ++number) {
    const auto wrapped = Wrap(values[number]);
    if (!wrapped.ok()) {
      while (number > 0) Pyarrow().decref(out[--number]);
      return wrapped.status();
    }
    out[number] = *wrapped;
  }
  return Status::OK();
}

// The caller has checked the class.
std::shared_ptr<arrow::Device> UnwrapDevice(PyObject* device);
ManagerPtr UnwrapMemoryManager(PyObject* manager);
ReaderPtr UnwrapReader(PyObject* reader);
arrow::MemoryPool* UnwrapPool(PyObject* pool);
FilePtr UnwrapFile(PyObject* native_file);
OutputPtr UnwrapStream(PyObject* native_file);

// The memo of a pyarrow.DictionaryMemo, which the caller has checked and which owns the result.
// Does not require the GIL.  Null for null.
arrow::ipc::DictionaryMemo* UnwrapMemo(PyObject* dictionary_memo);

// Initialise an object that `__new__` has just created.
Status InitBuffer(PyObject* fresh, const BufferPtr& buffer);
// `fresh` is a pyarrow.RecordBatchReader; the caller has checked the class.
void InitReader(PyObject* fresh, ReaderPtr reader);
// The pool has to outlive the object, and all buffers that it is used for.
Status InitPool(PyObject* fresh, arrow::MemoryPool* pool);
Status InitReadable(PyObject* fresh, FilePtr file);
Status InitWritable(PyObject* fresh, OutputPtr stream);

// Lets other Python threads run while this one may block.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  void* const state_;
};

// Does work that may block, without the GIL.
template <typename Work>
auto Unlocked(Work&& work) {
  WithoutGil unlocked;
  return work();
}

}  // namespace arrow_cuda
