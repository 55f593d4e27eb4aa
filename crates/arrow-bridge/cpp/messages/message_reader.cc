#include "messages/message_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "arrow/buffer.h"
#include "arrow/util/ubsan.h"

namespace arrow_cuda {
namespace {

using arrow::util::SafeLoadAs;

constexpr int32_t kContinuation = -1;
constexpr std::string_view kMagic = "ARROW1";
// The end of a file: the footer's length, then the magic.
constexpr int64_t kTrailerSize = 4 + static_cast<int64_t>(kMagic.size());

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

MessageFacts FactsOf(const arrow::Buffer& metadata, bool is_footer) {
  return Rust().message_facts(metadata.data(), static_cast<size_t>(metadata.size()), is_footer);
}

}  // namespace

Result<int64_t> MessageReader::Read(int64_t size, void* out) {
  std::lock_guard one_step(position_mutex_);
  ARROW_ASSIGN_OR_RAISE(const int64_t position, Tell());
  ARROW_ASSIGN_OR_RAISE(const int64_t count, Reader::Read(size, out));
  NotePrefix(position, count, out);
  return count;
}

Result<int64_t> MessageReader::ReadAt(int64_t position, int64_t size, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t count, Reader::ReadAt(position, size, out));
  NotePrefix(position, count, out);
  return count;
}

Result<BufferPtr> MessageReader::Read(int64_t size) {
  std::lock_guard one_step(position_mutex_);
  ARROW_ASSIGN_OR_RAISE(const int64_t position, Tell());
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position, size));
  ARROW_RETURN_NOT_OK(Seek(position + buffer->size()));
  return buffer;
}

Result<BufferPtr> MessageReader::ReadAt(int64_t position, int64_t size) {
  const Range range{position, size};
  switch (Recognise(range)) {
    case Part::kBody:
      return Reader::ReadAt(position, size);
    case Part::kMetadata: {
      ARROW_ASSIGN_OR_RAISE(auto metadata, MetadataAt(range));
      ARROW_RETURN_NOT_OK(Expect(metadata.facts, position + size));
      return std::move(metadata.bytes);
    }
    case Part::kFooter: {
      ARROW_ASSIGN_OR_RAISE(auto footer, ReadHost(range));
      ARROW_RETURN_NOT_OK(Admit(FactsOf(*footer, /*is_footer=*/true)));
      std::lock_guard lock(mutex_);
      is_file_ = true;
      return footer;
    }
    case Part::kUnknown:
      break;
  }
  ARROW_ASSIGN_OR_RAISE(const bool stays, AdmitBlock(range));
  if (stays) return Reader::ReadAt(position, size);
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadHost(range));
  NoteFooter(range, SpanOf(*buffer));
  return buffer;
}

arrow::Future<BufferPtr> MessageReader::ReadAsync(
    const arrow::io::IOContext&, int64_t position, int64_t size) {
  // Footers are read so, too, after which bodies are known.
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position, size));
  if (!buffer->is_cpu()) {
    ARROW_ASSIGN_OR_RAISE(buffer, ReadHost(Range{position, size}));
  }
  return arrow::Future<BufferPtr>::MakeFinished(std::move(buffer));
}

#if ARROW_VERSION_MAJOR >= 25
arrow::Future<BufferPtr> MessageReader::ReadAsync(
    const arrow::io::IOContext& context, int64_t position, int64_t size, bool allow_short_read) {
  auto reading = ReadAsync(context, position, size);
  ARROW_ASSIGN_OR_RAISE(auto buffer, reading.result());
  if (buffer->size() < size && !allow_short_read) {
    return Status::IOError("the file has ", buffer->size(), " bytes at ", position, ", not ", size);
  }
  return reading;
}
#endif

MessageReader::Part MessageReader::Recognise(const Range& range) {
  std::lock_guard lock(mutex_);
  if (range == std::exchange(body_, Range{})) return Part::kBody;
  if (range == std::exchange(metadata_, Range{})) return Part::kMetadata;
  return range == footer_ ? Part::kFooter : Part::kUnknown;
}

void MessageReader::NotePrefix(int64_t position, int64_t count, const void* bytes) {
  if (count != sizeof(int32_t)) return;
  const auto size = SafeLoadAs<int32_t>(static_cast<const uint8_t*>(bytes));
  if (size <= 0) return;
  // Older streams without a continuation marker begin with the size itself.
  std::lock_guard lock(mutex_);
  metadata_ = Range{position + count, size};
}

void MessageReader::NoteFooter(const Range& range, std::span<const uint8_t> bytes) {
  if (std::ssize(bytes) != kTrailerSize || range.size != kTrailerSize) return;
  if (std::memcmp(bytes.data() + 4, kMagic.data(), kMagic.size()) != 0) return;
  const int32_t size = SafeLoadAs<int32_t>(bytes.data());
  std::lock_guard lock(mutex_);
  footer_ = size > 0 ? Range{range.position - size, size} : Range{};
}

Result<bool> MessageReader::Admit(const MessageFacts& facts) {
  std::lock_guard lock(mutex_);
  if (facts.kind == MessageKind::kSchema) {
    is_swapped_ = false;
    dictionary_on_device_ = false;
  }
  is_swapped_ |= facts.is_swapped;
  if (facts.is_delta && dictionary_on_device_) {
    if (facts.kind == MessageKind::kUnreadable) {
      return Status::Invalid("the metadata of an IPC message cannot be read");
    }
    return Status::NotImplemented(
        "A delta dictionary cannot be appended to one in device memory: read it in host memory, with "
        "pyarrow.ipc of the buffer itself");
  }
  const bool stays =
      facts.stays_on_device && !facts.is_delta && !is_swapped_ && facts.body_size > 0;
  if (stays && facts.kind == MessageKind::kDictionary) dictionary_on_device_ = true;
  return stays;
}

Status MessageReader::Expect(const MessageFacts& facts, int64_t position) {
  ARROW_ASSIGN_OR_RAISE(const bool stays, Admit(facts));
  if (stays) {
    std::lock_guard lock(mutex_);
    body_ = Range{position, facts.body_size};
  }
  return Status::OK();
}

void MessageReader::ExpectMetadata(int64_t position, BufferPtr metadata,
                                   const MessageFacts& facts) {
  std::lock_guard lock(mutex_);
  expected_range_ = Range{position, metadata->size()};
  expected_ = Metadata{std::move(metadata), facts};
}

void MessageReader::ForgetMetadata() {
  std::lock_guard lock(mutex_);
  expected_range_ = Range{};
  expected_ = Metadata{};
}

Result<MessageReader::Metadata> MessageReader::MetadataAt(const Range& range) {
  {
    std::lock_guard lock(mutex_);
    if (range == expected_range_) return expected_;
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, ReadHost(range));
  const MessageFacts facts = FactsOf(*bytes, /*is_footer=*/false);
  return Metadata{std::move(bytes), facts};
}

Result<bool> MessageReader::AdmitBlock(const Range& range) {
  std::array<uint8_t, 8> prefix{};
  {
    std::lock_guard lock(mutex_);
    if (!is_file_ || range.size < std::ssize(prefix)) return false;
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t count,
                        Reader::ReadAt(range.position, std::ssize(prefix), prefix.data()));
  if (count != std::ssize(prefix)) return false;
  const int32_t first = SafeLoadAs<int32_t>(prefix.data());
  const bool has_mark = first == kContinuation;
  const int64_t begin = has_mark ? 8 : 4;
  const int64_t size = has_mark ? SafeLoadAs<int32_t>(prefix.data() + 4) : first;
  if (size <= 0 || size > range.size - begin) return false;
  ARROW_ASSIGN_OR_RAISE(const auto metadata, MetadataAt(Range{range.position + begin, size}));
  const int64_t rest = range.size - begin - size;
  if (rest == 0) {
    ARROW_RETURN_NOT_OK(Expect(metadata.facts, range.position + range.size));
    return false;
  }
  return rest == metadata.facts.body_size ? Admit(metadata.facts) : false;
}

Result<BufferPtr> MessageReader::ReadHost(const Range& range) {
  if (range.size < 0) {
    return Status::Invalid("cannot read a negative size: ", range.size);
  }
  // The file may end before the requested range: allocate no more than it has.
  ARROW_ASSIGN_OR_RAISE(const int64_t file_size, GetSize());
  const int64_t rest = std::max<int64_t>(file_size - std::max<int64_t>(range.position, 0), 0);
  const int64_t size = std::min(range.size, rest);
  ARROW_ASSIGN_OR_RAISE(BufferPtr buffer, arrow::AllocateBuffer(size));
  ARROW_ASSIGN_OR_RAISE(const int64_t count,
                        Reader::ReadAt(range.position, size, buffer->mutable_data()));
  return count == size ? buffer : arrow::SliceBuffer(buffer, 0, count);
}

}  // namespace arrow_cuda
