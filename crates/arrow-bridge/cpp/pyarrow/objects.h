// pyarrow's Cython objects, without Python.h: their layout and their internal methods.
//
// Everything here requires the GIL, unless it says otherwise.
#pragma once

#include <memory>

#include "arrow/array/array_base.h"
#include "arrow/buffer.h"
#include "arrow/chunked_array.h"
#include "arrow/device.h"
#include "arrow/io/interfaces.h"
#include "arrow/ipc/dictionary.h"
#include "arrow/memory_pool.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "border/ffi.h"

namespace arrow_cuda {

// Null when the object is not of that kind, or was made by `__new__` and never filled.
std::shared_ptr<arrow::Buffer> UnwrapBuffer(PyObject* object);
std::shared_ptr<arrow::Array> UnwrapArray(PyObject* object);
std::shared_ptr<arrow::RecordBatch> UnwrapBatch(PyObject* object);
std::shared_ptr<arrow::ChunkedArray> UnwrapChunkedArray(PyObject* object);
std::shared_ptr<arrow::Table> UnwrapTable(PyObject* object);
std::shared_ptr<arrow::Schema> UnwrapSchema(PyObject* object);
std::shared_ptr<arrow::DataType> UnwrapType(PyObject* object);
// The caller has checked the class.
std::shared_ptr<arrow::Device> UnwrapDevice(PyObject* device);
std::shared_ptr<arrow::MemoryManager> UnwrapMemoryManager(PyObject* manager);
std::shared_ptr<arrow::RecordBatchReader> UnwrapReader(PyObject* reader);
arrow::MemoryPool* UnwrapPool(PyObject* pool);
std::shared_ptr<arrow::io::RandomAccessFile> UnwrapFile(PyObject* native_file);
std::shared_ptr<arrow::io::OutputStream> UnwrapStream(PyObject* native_file);

// The memo of a pyarrow.DictionaryMemo, which the caller has checked and which owns the result.
// Does not require the GIL.  Null for null.
arrow::ipc::DictionaryMemo* UnwrapMemo(PyObject* dictionary_memo);

// A new pyarrow object.
arrow::Result<PyObject*> WrapBuffer(const std::shared_ptr<arrow::Buffer>& buffer);
arrow::Result<PyObject*> WrapArray(const std::shared_ptr<arrow::Array>& array);
arrow::Result<PyObject*> WrapBatch(const std::shared_ptr<arrow::RecordBatch>& batch);
arrow::Result<PyObject*> WrapChunkedArray(const std::shared_ptr<arrow::ChunkedArray>& array);
arrow::Result<PyObject*> WrapTable(const std::shared_ptr<arrow::Table>& table);
arrow::Result<PyObject*> WrapSchema(const std::shared_ptr<arrow::Schema>& schema);
arrow::Result<PyObject*> WrapType(const std::shared_ptr<arrow::DataType>& type);

// Initialise an object that `__new__` has just created.
arrow::Status InitBuffer(PyObject* fresh, const std::shared_ptr<arrow::Buffer>& buffer);
// `fresh` is a pyarrow.RecordBatchReader; the caller has checked the class.
void InitReader(PyObject* fresh, std::shared_ptr<arrow::RecordBatchReader> reader);
// The pool has to outlive the object, and all buffers that it is used for.
arrow::Status InitPool(PyObject* fresh, arrow::MemoryPool* pool);
arrow::Status InitReadable(PyObject* fresh, std::shared_ptr<arrow::io::RandomAccessFile> file);
arrow::Status InitWritable(PyObject* fresh, std::shared_ptr<arrow::io::OutputStream> stream);

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

}  // namespace arrow_cuda
