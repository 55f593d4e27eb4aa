// Record batches as IPC messages, and files over device memory that expect messages.
#include "entries/entries.h"

#include <utility>

#include "border/rust.h"
#include "border/status.h"
#include "entries/require.h"
#include "memory/buffer.h"
#include "memory/writer.h"
#include "messages/batch.h"
#include "messages/message_reader.h"
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

Outcome<PyObject*> BatchOfMessageEntry(PyObject* buffer, PyObject* schema_object, PyObject* memo,
                                       HostRange metadata, const MessageFacts* facts,
                                       RustBuffer* raw) noexcept {
  Handle<RustBuffer> rust(raw);
  return GuardValue([&]() -> Result<PyObject*> {
    ARROW_ASSIGN_OR_RAISE(const auto schema, Require<arrow::Schema>(schema_object));
    ARROW_ASSIGN_OR_RAISE(auto whole, Require<arrow::Buffer>(buffer));
    ARROW_ASSIGN_OR_RAISE(auto body, DeviceBuffer::Make(std::move(rust), std::move(whole)));
    const auto read_it = [&] {
      return ReadBatch(schema, UnwrapMemo(memo), {metadata.data, metadata.size}, std::move(body),
                       facts->stays_on_device);
    };
    ARROW_ASSIGN_OR_RAISE(const auto batch, Unlocked(read_it));
    return Wrap(batch);
  });
}

Failure InitReaderEntry(PyObject* fresh, PyObject* buffer) noexcept {
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, RequireDeviceBuffer(buffer));
    ARROW_ASSIGN_OR_RAISE(auto reader, Reader::Open<MessageReader>(std::move(ours)));
    return InitReadable(fresh, std::move(reader));
  });
}

Failure InitWriterEntry(PyObject* fresh, PyObject* buffer) noexcept {
  return Guard([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto ours, RequireDeviceBuffer(buffer));
    ARROW_ASSIGN_OR_RAISE(auto writer, Writer::Open(std::move(ours)));
    return InitWritable(fresh, std::move(writer));
  });
}

const RustReader* ReaderOfEntry(PyObject* object) noexcept {
  const auto file = UnwrapFile(object);
  // The file interfaces are virtual bases: only a dynamic cast converts them to the class.
  const auto* ours = dynamic_cast<const MessageReader*>(file.get());
  return ours == nullptr ? nullptr : ours->rust();
}

const RustWriter* WriterOfEntry(PyObject* object) noexcept {
  const auto stream = UnwrapStream(object);
  const auto* ours = dynamic_cast<const Writer*>(stream.get());
  return ours == nullptr ? nullptr : ours->rust();
}

Failure ExpectMetadataEntry(PyObject* object, int64_t position, HostRange metadata,
                            const MessageFacts* facts) noexcept {
  return Guard([&]() -> Status {
    const auto file = UnwrapFile(object);
    auto* reader = dynamic_cast<MessageReader*>(file.get());
    if (reader == nullptr) return Status::TypeError("expected an initialised BufferReader");
    if (metadata.data == nullptr) {
      reader->ForgetMetadata();
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(auto copy, AlignedCopy({metadata.data, metadata.size}));
    reader->ExpectMetadata(position, std::move(copy), *facts);
    return Status::OK();
  });
}

}  // namespace arrow_cuda
