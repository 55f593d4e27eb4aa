// Record batches as IPC messages.
#include "entries/entries.h"

#include <memory>
#include <utility>

#include "border/rust.h"
#include "border/status.h"
#include "entries/require.h"
#include "memory/buffer.h"
#include "messages/batch.h"
#include "messages/payload.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

Payload* PayloadOpenEntry(PyObject* object, Failure* failure) noexcept {
  Payload* payload = nullptr;
  Guard(failure, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto batch, Require<arrow::RecordBatch>(object));
    payload = new Payload(std::move(batch));
    return arrow::Status::OK();
  });
  return payload;
}

bool PayloadRangesEntry(Payload* payload, const HostRange** ranges, size_t* count,
                       Failure* failure) noexcept {
  return Guard(failure, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto found, payload->Ranges());
    *ranges = found.data();
    *count = found.size();
    return arrow::Status::OK();
  });
}

void PayloadReleaseEntry(Payload* payload) noexcept { delete payload; }

PyObject* ReadBatchEntry(PyObject* buffer, PyObject* schema_object, PyObject* memo,
                         const uint8_t* metadata, size_t metadata_size,
                         const MessageFacts* facts, RustBuffer* raw, Failure* failure) noexcept {
  Handle<RustBuffer> rust(raw);
  return GuardObject(failure, [&]() -> arrow::Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(const auto schema, Require<arrow::Schema>(schema_object));
    ARROW_ASSIGN_OR_RAISE(auto whole, Require<arrow::Buffer>(buffer));
    ARROW_ASSIGN_OR_RAISE(auto body, DeviceBuffer::Make(std::move(rust), std::move(whole)));
    const auto read_it = [&] {
      return ReadBatch(schema, UnwrapMemo(memo), {metadata, metadata_size}, std::move(body),
                       facts->is_compressed);
    };
    ARROW_ASSIGN_OR_RAISE(const auto batch, Unlocked(read_it));
    return Wrap(batch);
  });
}

}  // namespace arrow_cuda
