#include "memory/writer.h"

#include "memory/resolve.h"
#include "border/calls.h"

namespace arrow_cuda {
namespace {

Status CheckWrite(const void* data, int64_t size) {
  if (size < 0) return Status::Invalid("cannot write a negative size: ", size);
  if (size > 0 && data == nullptr) return Status::Invalid("cannot write from null");
  return Status::OK();
}

}  // namespace

Result<std::shared_ptr<Writer>> Writer::Open(std::shared_ptr<DeviceBuffer> buffer) {
  ARROW_ASSIGN_OR_RAISE(auto rust, Call(Rust().writer_open, buffer->rust()));
  return std::make_shared<Writer>(std::move(buffer), std::move(rust));
}

Status Writer::SetBufferSize(int64_t size) {
  return Call(Rust().writer_set_buffer_size, rust_.get(), size);
}

Status Writer::Close() { return Call(Rust().writer_close, rust_.get()); }

bool Writer::closed() const { return Rust().writer_is_closed(rust_.get()); }

Result<int64_t> Writer::Tell() const { return Call(Rust().writer_tell, rust_.get()); }

Status Writer::Seek(int64_t position) { return Call(Rust().writer_seek, rust_.get(), position); }

Status Writer::Flush() { return Call(Rust().writer_flush, rust_.get()); }

Status Writer::Write(const void* data, int64_t size) {
  ARROW_RETURN_NOT_OK(CheckWrite(data, size));
  return Call(Rust().writer_write, rust_.get(), data, size);
}

Status Writer::Write(const BufferPtr& data) {
  if (data == nullptr) return Status::Invalid("cannot write a null buffer");
  ARROW_RETURN_NOT_OK(WaitUntilReady(*data));
  if (IsOnDevice(*data)) {
    ARROW_ASSIGN_OR_RAISE(const auto from, Borrowed::From(*data));
    return Call(Rust().writer_write_device, rust_.get(), from.get());
  }
  if (data->is_cpu()) return Write(data->data(), data->size());
  // Memory of another kind of device: libarrow may be able to copy it to the CPU.
  ARROW_ASSIGN_OR_RAISE(
      const auto host, arrow::Buffer::ViewOrCopy(data, arrow::default_cpu_memory_manager()));
  return Write(host->data(), host->size());
}

Status Writer::WriteAt(int64_t position, const void* data, int64_t size) {
  ARROW_RETURN_NOT_OK(CheckWrite(data, size));
  return Call(Rust().writer_write_at, rust_.get(), position, data, size);
}

}  // namespace arrow_cuda
