// Objects that the bridge takes for pyarrow's, without Python: they are laid out like pyarrow's
// Cython classes, and functions stand in for those of its capsules.
#pragma once

#include <cstddef>
#include <memory>

#include "arrow/io/interfaces.h"
#include "border/ffi.h"

namespace fuzz {

using arrow_cuda::PyObject;

// Which class an object is of, and how it goes.
struct Class {
  void (*destroy)(PyObject*);
};

// The head of every object, as in pyarrow/objects.cc.
struct Head {
  ptrdiff_t refcount;
  const Class* type;
  PyObject* weakrefs = nullptr;
  void** vtable = nullptr;
};

// An object that holds one thing of libarrow's: a Buffer, Array, RecordBatch and so on.
template <typename T>
struct Object {
  Head head;
  std::shared_ptr<T> value;
  // pyarrow.Buffer's shape and strides.
  ptrdiff_t unused[2];

  static void Destroy(PyObject* object) { delete reinterpret_cast<Object*>(object); }
  static constexpr Class kClass{Destroy};
};

// pyarrow.NativeFile.
struct File {
  Head head;
  std::shared_ptr<arrow::io::InputStream> input;
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::shared_ptr<arrow::io::OutputStream> output;
  int flags[5];

  static void Destroy(PyObject* object) { delete reinterpret_cast<File*>(object); }
  static constexpr Class kClass{Destroy};
};

// A new reference, null for null.
template <typename T>
PyObject* Wrap(const std::shared_ptr<T>& value) {
  if (value == nullptr) return nullptr;
  return reinterpret_cast<PyObject*>(new Object<T>{{1, &Object<T>::kClass}, value, {}});
}

// Null for an object of another class, as pyarrow's functions return.
template <typename T>
std::shared_ptr<T> Unwrap(PyObject* object) {
  auto* known = reinterpret_cast<Object<T>*>(object);
  return known != nullptr && known->head.type == &Object<T>::kClass ? known->value : nullptr;
}

// Objects for the bridge's `init_*`.
PyObject* NewBuffer();
PyObject* NewFile();
// What `init_reader` has given such a file.
std::shared_ptr<arrow::io::RandomAccessFile> FileOf(PyObject* object);

void DecRef(PyObject* object);

// The table for the bridge.
arrow_cuda::PyarrowApi Table();

}  // namespace fuzz
