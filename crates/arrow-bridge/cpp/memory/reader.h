// A device buffer as an arrow::io::RandomAccessFile that hands out slices of device memory; Python
// gets the one of messages/message_reader.h, which derives from it.
#pragma once

#include <cstdint>
#include <utility>

#include "arrow/io/interfaces.h"
#include "border/names.h"
#include "memory/buffer.h"

namespace arrow_cuda {

class Reader : public arrow::io::RandomAccessFile {
 public:
  // `T` is Reader or a class derived from it.
  template <typename T>
  static Result<std::shared_ptr<T>> Open(std::shared_ptr<DeviceBuffer> buffer) {
    Handle<RustReader> rust(Rust().reader_open(buffer->rust()));
    if (rust == nullptr) return Status::OutOfMemory("cannot open a reader");
    return std::make_shared<T>(std::move(buffer), std::move(rust));
  }

  Reader(std::shared_ptr<DeviceBuffer> buffer, Handle<RustReader> rust)
      : buffer_(std::move(buffer)), rust_(std::move(rust)) {}

  RustReader* rust() const { return rust_.get(); }

  Status Close() override;
  bool closed() const override;
  Result<int64_t> Tell() const override;
  Status Seek(int64_t position) override;
  Result<int64_t> GetSize() override;
  // Reads return device memory, without a copy.
  bool supports_zero_copy() const override { return true; }

  using arrow::io::RandomAccessFile::ReadAt;
  Result<int64_t> Read(int64_t size, void* out) override;
  Result<BufferPtr> Read(int64_t size) override;
  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override;
  Result<BufferPtr> ReadAt(int64_t position, int64_t size) override;

 private:
  const std::shared_ptr<DeviceBuffer> buffer_;
  const Handle<RustReader> rust_;
};

// A message's body as the file from which libarrow reads the message's buffers: it returns all of
// each, or refuses, where other files return what there is.
class BodyReader : public Reader {
 public:
  using Reader::Reader;

  using Reader::ReadAt;
  Result<BufferPtr> ReadAt(int64_t position, int64_t size) override;
};

// Refuses a buffer that does not lie within its message's body.
Status CheckWithinBody(int64_t position, int64_t size, int64_t body_size);

}  // namespace arrow_cuda
