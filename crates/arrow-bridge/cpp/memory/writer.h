// A device buffer as an arrow::io::WritableFile.
#pragma once

#include <cstdint>
#include <utility>

#include "arrow/io/interfaces.h"
#include "border/names.h"
#include "memory/buffer.h"

namespace arrow_cuda {

class Writer : public arrow::io::WritableFile {
 public:
  static Result<std::shared_ptr<Writer>> Open(std::shared_ptr<DeviceBuffer> buffer);

  Writer(std::shared_ptr<DeviceBuffer> buffer, Handle<RustWriter> rust)
      : buffer_(std::move(buffer)), rust_(std::move(rust)) {}

  RustWriter* rust() const { return rust_.get(); }

  Status SetBufferSize(int64_t size);

  Status Close() override;
  bool closed() const override;
  Result<int64_t> Tell() const override;
  Status Seek(int64_t position) override;
  Status Flush() override;

  using arrow::io::Writable::Write;
  Status Write(const void* data, int64_t size) override;
  Status Write(const BufferPtr& data) override;
  Status WriteAt(int64_t position, const void* data, int64_t size) override;

 private:
  const std::shared_ptr<DeviceBuffer> buffer_;
  const Handle<RustWriter> rust_;
};

}  // namespace arrow_cuda
