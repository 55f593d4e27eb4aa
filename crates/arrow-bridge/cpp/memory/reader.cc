#include "memory/reader.h"

#include "border/calls.h"

namespace arrow_cuda {
namespace {

arrow::Status CheckSize(int64_t size) {
  if (size < 0) return arrow::Status::Invalid("cannot read a negative size: ", size);
  return arrow::Status::OK();
}

arrow::Status CheckRead(int64_t size, const void* out) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  if (size > 0 && out == nullptr) return arrow::Status::Invalid("cannot read into null");
  return arrow::Status::OK();
}

}  // namespace

arrow::Status Reader::Close() {
  Rust().reader_close(rust_.get());
  return arrow::Status::OK();
}

bool Reader::closed() const { return Rust().reader_is_closed(rust_.get()); }

arrow::Result<int64_t> Reader::Tell() const { return Call(Rust().reader_tell, rust_.get()); }

arrow::Status Reader::Seek(int64_t position) {
  return Call(Rust().reader_seek, rust_.get(), position);
}

arrow::Result<int64_t> Reader::GetSize() { return Call(Rust().reader_size, rust_.get()); }

arrow::Result<int64_t> Reader::Read(int64_t size, void* out) {
  ARROW_RETURN_NOT_OK(CheckRead(size, out));
  return Call(Rust().reader_read, rust_.get(), size, out);
}

arrow::Result<int64_t> Reader::ReadAt(int64_t position, int64_t size, void* out) {
  ARROW_RETURN_NOT_OK(CheckRead(size, out));
  return Call(Rust().reader_read_at, rust_.get(), position, size, out);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Reader::Read(int64_t size) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  ARROW_ASSIGN_OR_RAISE(auto slice, Call(Rust().reader_read_buffer, rust_.get(), size));
  return Part(std::move(slice));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Reader::ReadAt(int64_t position, int64_t size) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  ARROW_ASSIGN_OR_RAISE(auto slice, Call(Rust().reader_read_buffer_at, rust_.get(), position, size));
  return Part(std::move(slice));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Reader::Part(Handle<RustBuffer> slice) const {
  return DeviceBuffer::Make(std::move(slice), buffer_);
}

}  // namespace arrow_cuda
