#include "objects.h"

#include <iterator>
#include <utility>

#include "arrow/array/array_base.h"
#include "arrow/buffer.h"
#include "arrow/chunked_array.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "arrow/type.h"

namespace fuzz {
namespace {

static_assert(sizeof(File) == 104 && sizeof(Object<arrow::Buffer>) == 64);

// The result of setters; it is never destroyed.
PyObject* None() {
  static constexpr Class kNone{[](PyObject*) {}};
  static Head none{1, &kNone};
  ++none.refcount;
  return reinterpret_cast<PyObject*>(&none);
}

void InitBuffer(PyObject* fresh, const std::shared_ptr<arrow::Buffer>& buffer) {
  reinterpret_cast<Object<arrow::Buffer>*>(fresh)->value = buffer;
}

PyObject* SetFile(PyObject* fresh, std::shared_ptr<arrow::io::RandomAccessFile> file) {
  reinterpret_cast<File*>(fresh)->file = std::move(file);
  return None();
}

template <typename Function>
void* Place(Function* function) {
  return reinterpret_cast<void*>(function);
}

template <typename T>
arrow_cuda::Conversion Both() {
  return {Place(Unwrap<T>), Place(Wrap<T>)};
}

void* buffer_vtable[] = {Place(InitBuffer)};
void* file_vtable[] = {Place(SetFile), nullptr, nullptr};

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> FileOf(PyObject* object) {
  return reinterpret_cast<File*>(object)->file;
}

PyObject* NewBuffer() {
  Head head{1, &Object<arrow::Buffer>::kClass, nullptr, buffer_vtable};
  return reinterpret_cast<PyObject*>(new Object<arrow::Buffer>{head, nullptr, {}});
}

PyObject* NewFile() {
  Head head{1, &File::kClass, nullptr, file_vtable};
  return reinterpret_cast<PyObject*>(new File{head, nullptr, nullptr, nullptr, {}});
}

void DecRef(PyObject* object) {
  auto* head = reinterpret_cast<Head*>(object);
  if (--head->refcount == 0) head->type->destroy(object);
}

arrow_cuda::PyarrowApi Table() {
  return {
      .buffer = Both<arrow::Buffer>(),
      .array = Both<arrow::Array>(),
      .batch = Both<arrow::RecordBatch>(),
      .schema = Both<arrow::Schema>(),
      .data_type = Both<arrow::DataType>(),
      .chunked_array = Both<arrow::ChunkedArray>(),
      .table = Both<arrow::Table>(),
      .buffer_vtable = buffer_vtable,
      .native_file_vtable = file_vtable,
      .memory_pool_vtable = nullptr,
      .decref = DecRef,
      .save_thread = []() -> void* { return nullptr; },
      .restore_thread = [](void*) {},
  };
}

}  // namespace fuzz
