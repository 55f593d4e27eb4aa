// A device buffer as an arrow::io::WritableFile.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "arrow/io/interfaces.h"
#include "memory/buffer.h"

namespace arrow_cuda {

class Writer : public arrow::io::WritableFile {
 public:
  static arrow::Result<std::shared_ptr<Writer>> Open(std::shared_ptr<DeviceBuffer> buffer);

  Writer(std::shared_ptr<DeviceBuffer> buffer, Handle<RustWriter> rust)
      : buffer_(std::move(buffer)), rust_(std::move(rust)) {}

  RustWriter* rust() const { return rust_.get(); }

  arrow::Status SetBufferSize(int64_t size);

  arrow::Status Close() override;
  bool closed() const override;
  arrow::Result<int64_t> Tell() const override;
  arrow::Status Seek(int64_t position) override;
  arrow::Status Flush() override;

  using arrow::io::Writable::Write;
  arrow::Status Write(const void* data, int64_t size) override;
  arrow::Status Write(const std::shared_ptr<arrow::Buffer>& data) override;
  arrow::Status WriteAt(int64_t position, const void* data, int64_t size) override;

 private:
  const std::shared_ptr<DeviceBuffer> buffer_;
  const Handle<RustWriter> rust_;
};

}  // namespace arrow_cuda
