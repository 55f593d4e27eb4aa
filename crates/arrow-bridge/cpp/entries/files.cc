// Files over device memory, and the messages that they expect.
#include "entries/entries.h"

#include <memory>
#include <utility>

#include "border/status.h"
#include "entries/require.h"
#include "memory/writer.h"
#include "messages/batch.h"
#include "messages/message_reader.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

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

RustReader* ReaderOfEntry(PyObject* object) noexcept {
  const auto file = UnwrapFile(object);
  // The file interfaces are virtual bases: only a dynamic cast converts them to the class.
  const auto* ours = dynamic_cast<const MessageReader*>(file.get());
  return ours == nullptr ? nullptr : ours->rust();
}

RustWriter* WriterOfEntry(PyObject* object) noexcept {
  const auto stream = UnwrapStream(object);
  const auto* ours = dynamic_cast<const Writer*>(stream.get());
  return ours == nullptr ? nullptr : ours->rust();
}

Failure ExpectMetadataEntry(PyObject* object, int64_t position, const uint8_t* metadata,
                            size_t metadata_size, const MessageFacts* facts) noexcept {
  return Guard([&]() -> Status {
    const auto file = UnwrapFile(object);
    auto* reader = dynamic_cast<MessageReader*>(file.get());
    if (reader == nullptr) return Status::TypeError("expected an initialised BufferReader");
    if (metadata == nullptr) {
      reader->ForgetMetadata();
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(auto copy, AlignedCopy({metadata, metadata_size}));
    reader->ExpectMetadata(position, std::move(copy), *facts);
    return Status::OK();
  });
}

}  // namespace arrow_cuda
