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

Outcome<Payload*> PayloadOpenEntry(PyObject* object) noexcept {
  return GuardValue([&]() -> Result<Payload*> {
    ARROW_ASSIGN_OR_RAISE(auto batch, Require<arrow::RecordBatch>(object));
    return new Payload(std::move(batch));
  });
}

Outcome<HostRanges> PayloadRangesEntry(Payload* payload) noexcept {
  return GuardValue([&]() -> Result<HostRanges> {
    ARROW_ASSIGN_OR_RAISE(const auto found, payload->Ranges());
    return HostRanges{found.data(), found.size()};
  });
}

void PayloadReleaseEntry(Payload* payload) noexcept { delete payload; }

Outcome<PyObject*> ReadBatchEntry(PyObject* buffer, PyObject* schema_object, PyObject* memo,
                         const uint8_t* metadata, size_t metadata_size,
                         const MessageFacts* facts, RustBuffer* raw) noexcept {
  Handle<RustBuffer> rust(raw);
  return GuardValue([&]() -> Result<PyObject*> {
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
