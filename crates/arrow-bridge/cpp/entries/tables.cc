// Tables of files, and the decoders for what is compressed in them.
#include "entries/entries.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrow/util/compression.h"
#include "border/status.h"
#include "memory/device.h"
#include "messages/tables.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

struct Decoder {
  std::shared_ptr<arrow::util::Decompressor> decompressor;
};

struct NewTable {
  std::shared_ptr<arrow::Table> table;
};

Outcome<NewTable*> TableFromEntry(const RustBodyReader* bodies, int32_t device,
                                  HostRanges names) noexcept {
  return GuardValue([&]() -> arrow::Result<NewTable*> {
    std::optional<std::vector<std::string>> columns;
    if (names.first != nullptr) columns.emplace();
    for (size_t number = 0; number < names.count; ++number) {
      const auto& [data, size] = names.first[number];
      columns->emplace_back(reinterpret_cast<const char*>(data), size);
    }
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(device));
    ARROW_ASSIGN_OR_RAISE(auto table, TableFrom(bodies, manager, columns));
    return new NewTable{std::move(table)};
  });
}

Outcome<PyObject*> WrapTableEntry(NewTable* table) noexcept {
  const std::unique_ptr<NewTable> owned(table);
  return GuardValue([&] { return Wrap(owned->table); });
}

Outcome<Decoder*> DecoderOpenEntry(Codec codec) noexcept {
  return GuardValue([&]() -> arrow::Result<Decoder*> {
    const auto type =
        codec == Codec::kZstd ? arrow::Compression::ZSTD : arrow::Compression::LZ4_FRAME;
    ARROW_ASSIGN_OR_RAISE(const auto made, arrow::util::Codec::Create(type));
    ARROW_ASSIGN_OR_RAISE(auto decompressor, made->MakeDecompressor());
    return new Decoder{std::move(decompressor)};
  });
}

Failure DecoderResetEntry(Decoder* decoder) noexcept {
  return Guard([&] { return decoder->decompressor->Reset(); });
}

Outcome<Decoded> DecoderDecodeEntry(Decoder* decoder, HostRange from, HostTarget to) noexcept {
  return GuardValue([&]() -> arrow::Result<Decoded> {
    ARROW_ASSIGN_OR_RAISE(const auto result, decoder->decompressor->Decompress(
                                                 static_cast<int64_t>(from.size), from.data,
                                                 static_cast<int64_t>(to.size), to.data));
    return Decoded{static_cast<size_t>(result.bytes_read),
                   static_cast<size_t>(result.bytes_written), decoder->decompressor->IsFinished()};
  });
}

void DecoderReleaseEntry(Decoder* decoder) noexcept { delete decoder; }

}  // namespace arrow_cuda
