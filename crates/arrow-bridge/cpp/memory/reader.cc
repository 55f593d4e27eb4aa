#include "memory/reader.h"

#include "border/calls.h"

namespace arrow_cuda {
namespace {

Status CheckSize(int64_t size) {
  if (size < 0) return Status::Invalid("cannot read a negative size: ", size);
  return Status::OK();
}

Status CheckRead(int64_t size, const void* out) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  if (size > 0 && out == nullptr) return Status::Invalid("cannot read into null");
  return Status::OK();
}

}  // namespace

Status Reader::Close() {
  Rust().reader_close(rust_.get());
  return Status::OK();
}

bool Reader::closed() const { return Rust().reader_is_closed(rust_.get()); }

Result<int64_t> Reader::Tell() const { return Call(Rust().reader_tell, rust_.get()); }

Status Reader::Seek(int64_t position) { return Call(Rust().reader_seek, rust_.get(), position); }

Result<int64_t> Reader::GetSize() { return Call(Rust().reader_size, rust_.get()); }

Result<int64_t> Reader::Read(int64_t size, void* out) {
  ARROW_RETURN_NOT_OK(CheckRead(size, out));
  return Call(Rust().reader_read, rust_.get(), size, out);
}

Result<int64_t> Reader::ReadAt(int64_t position, int64_t size, void* out) {
  ARROW_RETURN_NOT_OK(CheckRead(size, out));
  return Call(Rust().reader_read_at, rust_.get(), position, size, out);
}

Result<BufferPtr> Reader::Read(int64_t size) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  ARROW_ASSIGN_OR_RAISE(auto slice, Call(Rust().reader_read_buffer, rust_.get(), size));
  return DeviceBuffer::Make(std::move(slice), buffer_);
}

Result<BufferPtr> Reader::ReadAt(int64_t position, int64_t size) {
  ARROW_RETURN_NOT_OK(CheckSize(size));
  ARROW_ASSIGN_OR_RAISE(auto slice, Call(Rust().reader_read_buffer_at, rust_.get(), position, size));
  return DeviceBuffer::Make(std::move(slice), buffer_);
}

Result<BufferPtr> BodyReader::ReadAt(int64_t position, int64_t size) {
  ARROW_ASSIGN_OR_RAISE(const int64_t whole, GetSize());
  ARROW_RETURN_NOT_OK(CheckWithinBody(position, size, whole));
  return Reader::ReadAt(position, size);
}

Status CheckWithinBody(int64_t position, int64_t size, int64_t body_size) {
  const bool is_within = position >= 0 && size >= 0 && position <= body_size;
  if (is_within && size <= body_size - position) return Status::OK();
  return Status::Invalid("a buffer of ", size, " bytes at offset ", position,
                         " lies outside the message's body of ", body_size, " bytes");
}

}  // namespace arrow_cuda
