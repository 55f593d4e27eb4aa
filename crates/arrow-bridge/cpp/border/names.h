// Short names of libarrow's classes, and of the pointers that share their objects.
#pragma once

#include <memory>

#include "arrow/device.h"
#include "arrow/result.h"
#include "arrow/type_fwd.h"

namespace arrow_cuda {

using arrow::ArrayData;
using arrow::ArrayDataVector;
using arrow::DataType;
using arrow::Result;
using arrow::Status;
using arrow::Type;

using ArrayPtr = std::shared_ptr<arrow::Array>;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using BufferPtr = std::shared_ptr<arrow::Buffer>;
using ChunkedPtr = std::shared_ptr<arrow::ChunkedArray>;
using DataPtr = std::shared_ptr<ArrayData>;
using EventPtr = std::shared_ptr<arrow::Device::SyncEvent>;
using FilePtr = std::shared_ptr<arrow::io::RandomAccessFile>;
using ManagerPtr = std::shared_ptr<arrow::MemoryManager>;
using OutputPtr = std::shared_ptr<arrow::io::OutputStream>;
using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;
using SchemaPtr = std::shared_ptr<arrow::Schema>;
using TablePtr = std::shared_ptr<arrow::Table>;
using TypePtr = std::shared_ptr<DataType>;

}  // namespace arrow_cuda
