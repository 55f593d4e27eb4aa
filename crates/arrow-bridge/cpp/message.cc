#include "message.h"

#include <cstring>
#include <optional>

#include "rust.h"

namespace arrow_cuda {
namespace {

using Bytes = std::span<const uint8_t>;

template <typename T>
std::optional<T> Load(Bytes bytes, uint64_t position) {
  if (position > bytes.size() || sizeof(T) > bytes.size() - position) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof(T));
  return value;
}

// A Flatbuffers table.  Its fields are found through a table of 16-bit offsets, 0 for "absent".
class Table {
 public:
  static std::optional<Table> Root(Bytes bytes) {
    const auto position = Load<uint32_t>(bytes, 0);
    return position ? At(bytes, *position) : std::nullopt;
  }

  // The field's value, or `fallback` when it is absent; nothing when it lies outside.
  template <typename T>
  std::optional<T> Scalar(uint32_t field, T fallback) const {
    const auto position = Field(field);
    return position == 0 ? fallback : Load<T>(bytes_, position);
  }

  bool Has(uint32_t field) const { return Field(field) != 0; }

  // Where a table or vector that the field refers to begins.
  std::optional<uint64_t> Target(uint32_t field) const {
    const auto position = Field(field);
    const auto offset = Load<uint32_t>(bytes_, position);
    if (position == 0 || !offset) return std::nullopt;
    return position + *offset;
  }

  std::optional<Table> Child(uint32_t field) const {
    const auto position = Target(field);
    return position ? At(bytes_, *position) : std::nullopt;
  }

  Bytes bytes() const { return bytes_; }

 private:
  static std::optional<Table> At(Bytes bytes, uint64_t position) {
    const auto back = Load<int32_t>(bytes, position);
    if (!back) return std::nullopt;
    const int64_t fields = static_cast<int64_t>(position) - *back;
    if (fields < 0) return std::nullopt;
    const auto size = Load<uint16_t>(bytes, static_cast<uint64_t>(fields));
    if (!size) return std::nullopt;
    return Table(bytes, position, static_cast<uint64_t>(fields), *size);
  }

  Table(Bytes bytes, uint64_t position, uint64_t fields, uint16_t fields_size)
      : bytes_(bytes), position_(position), fields_(fields), fields_size_(fields_size) {}

  uint64_t Field(uint32_t field) const {
    const uint32_t slot = 4 + 2 * field;
    if (slot + 2 > fields_size_) return 0;
    const auto offset = Load<uint16_t>(bytes_, fields_ + slot);
    return !offset || *offset == 0 ? 0 : position_ + *offset;
  }

  Bytes bytes_;
  uint64_t position_;
  uint64_t fields_;
  uint16_t fields_size_;
};

// Field numbers and enum values of Arrow's format/{Message,Schema,File}.fbs.
namespace message {
constexpr uint32_t kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3, kCustom = 4;
constexpr uint8_t kSchema = 1, kDictionary = 2, kBatch = 3;
constexpr int16_t kV4 = 3;
}  // namespace message
namespace schema {
constexpr uint32_t kEndianness = 0;
constexpr int16_t kLittle = 0;
}  // namespace schema
namespace footer {
constexpr uint32_t kSchema = 1;
}  // namespace footer
namespace dictionary {
constexpr uint32_t kData = 1, kIsDelta = 2;
}  // namespace dictionary
namespace batch {
constexpr uint32_t kNodes = 1;
constexpr uint64_t kNodeSize = 16;  // int64 length, int64 null_count
}  // namespace batch

bool IsSwapped(const Table& schema_table) {
  const auto order = schema_table.Scalar<int16_t>(schema::kEndianness, schema::kLittle);
  return order != schema::kLittle;
}

// A null count that is left open makes libarrow count bits of the body.
bool HasKnownNullCounts(const Table& batch_table) {
  if (!batch_table.Has(batch::kNodes)) return true;
  const auto vector = batch_table.Target(batch::kNodes);
  if (!vector) return false;
  const auto count = Load<uint32_t>(batch_table.bytes(), *vector);
  if (!count) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const uint64_t node = *vector + 4 + i * batch::kNodeSize;
    const auto length = Load<int64_t>(batch_table.bytes(), node);
    const auto nulls = Load<int64_t>(batch_table.bytes(), node + 8);
    if (!length || !nulls || *length < 0 || *nulls < 0) return false;
  }
  return true;
}

// The first format with compression noted it in the custom metadata of version 4.
bool MayBeOldCompressed(const Table& root) {
  const auto version = root.Scalar<int16_t>(message::kVersion, 0);
  return version == message::kV4 && root.Has(message::kCustom);
}

bool StaysPut(Bytes metadata, const Table& root, const Table& batch_table) {
  return HasKnownNullCounts(batch_table) && !MayBeOldCompressed(root) &&
         !Rust().is_compressed_message(metadata.data(), static_cast<int64_t>(metadata.size()));
}

}  // namespace

MessageFacts InspectMessage(Bytes metadata) {
  MessageFacts facts;
  const auto root = Table::Root(metadata);
  if (!root) return facts;
  const auto kind = root->Scalar<uint8_t>(message::kHeaderType, 0);
  const auto body_size = root->Scalar<int64_t>(message::kBodyLength, 0);
  const auto header = root->Child(message::kHeader);
  if (!kind || !body_size || *body_size < 0 || !header) return facts;
  facts.body_size = *body_size;
  if (kind == message::kSchema) {
    facts.kind = MessageFacts::Kind::kSchema;
    facts.swapped = IsSwapped(*header);
  } else if (kind == message::kBatch) {
    facts.kind = MessageFacts::Kind::kBatch;
    facts.stays_put = StaysPut(metadata, *root, *header);
  } else if (kind == message::kDictionary) {
    const auto values = header->Child(dictionary::kData);
    facts.kind = MessageFacts::Kind::kDictionary;
    facts.delta = header->Scalar<uint8_t>(dictionary::kIsDelta, 0) != 0;
    facts.stays_put = values && StaysPut(metadata, *root, *values);
  }
  return facts;
}

bool FooterIsSwapped(Bytes bytes) {
  const auto root = Table::Root(bytes);
  const auto child = root ? root->Child(footer::kSchema) : std::nullopt;
  // libarrow refuses a footer without a schema.
  return child && IsSwapped(*child);
}

}  // namespace arrow_cuda
