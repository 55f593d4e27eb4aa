// The reader that Python uses: it passes device memory only to code that can handle it.
//
// Most of libarrow assumes that `Read` returns CPU memory: the readers of CSV, JSON and Parquet,
// streams that decompress or transcode, even the IPC reader itself for footers, compressed bodies,
// delta dictionaries and batches of the other byte order.  They would dereference a null pointer.
// So this class reads buffers as copies in host memory, except for the body of an IPC message that
// libarrow only slices.  It recognises such a body by the reads before it:
//
//   stream:  read 4 bytes (0xFFFFFFFF), read 4 bytes (n), read a buffer of n (the metadata),
//            read a buffer of as many bytes as the metadata says: the body;
//   file:    read the footer at the file's end, then blocks of prefix, metadata and body, by
//            one read or by two.
//
// Datasets read bodies asynchronously, and their queries then compute on the host: those reads copy.
//
// Python's `read_buffer` always returns device memory: it calls Rust, not this class.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "arrow/util/config.h"
#include "arrow/util/future.h"
#include "border/ffi.h"
#include "border/names.h"
#include "memory/reader.h"

namespace arrow_cuda {

class MessageReader : public Reader {
 public:
  using Reader::Reader;

  using Reader::ReadAt;
  Result<int64_t> Read(int64_t size, void* out) override;
  Result<BufferPtr> Read(int64_t size) override;
  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override;
  Result<BufferPtr> ReadAt(int64_t position, int64_t size) override;

  using Reader::ReadAsync;
  arrow::Future<BufferPtr> ReadAsync(const arrow::io::IOContext& context, int64_t position,
                                     int64_t size) override;
#if ARROW_VERSION_MAJOR >= 25
  arrow::Future<BufferPtr> ReadAsync(const arrow::io::IOContext& context, int64_t position,
                                     int64_t size, bool allow_short_read) override;
#endif

  // Stores metadata that was found at `position`, for reads before `Forget`.
  void ExpectMetadata(int64_t position, BufferPtr metadata, const MessageFacts& facts);
  void ForgetMetadata();

 private:
  struct Range {
    int64_t position = -1;
    int64_t size = 0;

    bool operator==(const Range&) const = default;
  };

  // Metadata on the host, and the parsed facts.
  struct Metadata {
    BufferPtr bytes;
    MessageFacts facts;
  };

  enum class Part { kUnknown, kMetadata, kBody, kFooter };

  Part Recognise(const Range& range);
  void NotePrefix(int64_t position, int64_t count, const void* bytes);
  void NoteFooter(const Range& range, std::span<const uint8_t> bytes);

  // Whether the body that these facts describe may stay on the device.
  Result<bool> Admit(const MessageFacts& facts);
  // Expects the body at `position`, if it may stay.
  Status Expect(const MessageFacts& facts, int64_t position);

  // The metadata that was expected in the range, else what is read there.
  Result<Metadata> MetadataAt(const Range& range);

  // Whether the range is a block of an IPC file, body included, that may stay on the device.
  Result<bool> AdmitBlock(const Range& range);

  Result<BufferPtr> ReadHost(const Range& range);

  // Reading and advancing the position is atomic, as in any file.
  std::mutex position_mutex_;

  // Several threads may read at different positions.  If one discards another's state, that only
  // costs a copy to the host.
  std::mutex mutex_;
  Range metadata_;
  Range body_;
  Range footer_;
  Range expected_range_;
  Metadata expected_;
  bool is_file_ = false;
  bool is_swapped_ = false;
  bool dictionary_on_device_ = false;
};

}  // namespace arrow_cuda
