// Exports readers of record batches, and chunked arrays, as streams of the C Device interface.
#include "c_data/streams.h"

#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "arrow/array/util.h"
#include "arrow/c/bridge.h"
#include "arrow/type.h"
#include "c_data/c_device.h"
#include "c_data/exportable.h"
#include "c_data/device_id.h"
#include "memory/device.h"
#include "memory/traverse.h"

namespace arrow_cuda {
namespace {

int64_t LengthOf(const arrow::Array& array) { return array.length(); }
int64_t LengthOf(const arrow::RecordBatch& batch) { return batch.num_rows(); }

// An empty array or batch of the same type, on the host.
Result<ArrayPtr> EmptyLike(const arrow::Array& array) {
  return arrow::MakeEmptyArray(array.type());
}
Result<BatchPtr> EmptyLike(const arrow::RecordBatch& batch) {
  return arrow::RecordBatch::MakeEmpty(batch.schema());
}

Status Export(const arrow::Schema& schema, ArrowSchema* out) {
  return arrow::ExportSchema(schema, out);
}
Status Export(const DataType& type, ArrowSchema* out) { return arrow::ExportType(type, out); }
Status Export(const arrow::Array& array, ArrowDeviceArray* out) {
  return arrow::ExportDeviceArray(array, nullptr, out);
}
Status Export(const arrow::RecordBatch& batch, ArrowDeviceArray* out) {
  return arrow::ExportDeviceRecordBatch(batch, nullptr, out);
}

// The state of an exported stream, which the functions in its structure call.
class Producer {
 public:
  virtual ~Producer() = default;
  virtual Status GetSchema(ArrowSchema* out) = 0;
  // Leaves `out` released at the end.
  virtual Status GetNext(ArrowDeviceArray* out) = 0;

  std::string error;
};

// A stream of `Data`, all of one `Type`.
template <typename Type, typename Data>
class ProducerOf : public Producer {
 public:
  // `next` returns null at the end.
  using Next = std::function<Result<std::shared_ptr<Data>>()>;

  ProducerOf(std::shared_ptr<Type> type, Next next)
      : type_(std::move(type)), next_(std::move(next)) {}

  // Reads up to the first array or batch that has values.  Its device becomes the stream's.
  Status FindDevice() {
    std::optional<DeviceId> found;
    bool has_values = false;
    while (!has_values) {
      ARROW_ASSIGN_OR_RAISE(auto data, next_());
      if (data == nullptr) break;
      ARROW_ASSIGN_OR_RAISE(const auto id, DeviceIdOf(ColumnsOf(*data)));
      has_values = id.has_value() && LengthOf(*data) > 0;
      if (has_values || !found.has_value()) found = id;
      ahead_.push_back(std::move(data));
    }
    id_ = found.value_or(DeviceId());
    return Status::OK();
  }

  const DeviceId& id() const { return id_; }

  Status GetSchema(ArrowSchema* out) override { return Export(*type_, out); }

  Status GetNext(ArrowDeviceArray* out) override {
    ARROW_ASSIGN_OR_RAISE(auto data, Take());
    if (data == nullptr) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto id, DeviceIdOf(ColumnsOf(*data)));
    if (id.has_value() && *id != id_) {
      if (LengthOf(*data) == 0) {
        ARROW_ASSIGN_OR_RAISE(data, EmptyThere(*data));
        return ExportThere(std::move(data), out);
      }
      return Status::Invalid("array ", taken_ - 1, " of the stream lies on ", id->ToString(),
                             ", and the stream on ", id_.ToString(),
                             ": a stream has one device, to which copy_to() brings the others");
    }
    return ExportThere(std::move(data), out);
  }

 private:
  Result<std::shared_ptr<Data>> Take() {
    ++taken_;
    if (ahead_.empty()) return next_();
    auto data = std::move(ahead_.front());
    ahead_.pop_front();
    return data;
  }

  Result<std::shared_ptr<Data>> EmptyThere(const Data& data) {
    ARROW_ASSIGN_OR_RAISE(const auto empty, EmptyLike(data));
    if (id_.type != ARROW_DEVICE_CUDA) return empty;
    ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(id_.device));
    return empty->CopyTo(manager);
  }

  Status ExportThere(std::shared_ptr<Data> data, ArrowDeviceArray* out) {
    ARROW_ASSIGN_OR_RAISE(data, Exportable(data));
    if (id_.type == ARROW_DEVICE_CUDA) {
      ARROW_ASSIGN_OR_RAISE(const auto manager, ManagerOfDevice(id_.device));
      const Location location{manager, arrow::DeviceAllocationType::kCUDA};
      ARROW_ASSIGN_OR_RAISE(data, WithEmptyBuffersAt(data, location));
    }
    ARROW_RETURN_NOT_OK(Export(*data, out));
    // libarrow reports the host for data without buffers.
    out->device_type = id_.type;
    out->device_id = id_.device;
    const Status finished = FinishExport(ColumnsOf(*data), out);
    if (!finished.ok()) out->array.release(&out->array);
    return finished;
  }

  const std::shared_ptr<Type> type_;
  const Next next_;
  std::deque<std::shared_ptr<Data>> ahead_;
  DeviceId id_;
  int64_t taken_ = 0;
};

int NumberOf(const Status& status) {
  switch (status.code()) {
    case arrow::StatusCode::OutOfMemory:
      return ENOMEM;
    case arrow::StatusCode::NotImplemented:
      return ENOSYS;
    case arrow::StatusCode::IOError:
      return EIO;
    default:
      return EINVAL;
  }
}

Producer* ProducerIn(const ArrowDeviceArrayStream* stream) {
  return static_cast<Producer*>(stream->private_data);
}

// Runs a callback of the C stream, and turns exceptions into codes of errno.
template <typename Work>
int Answer(const ArrowDeviceArrayStream* stream, Work&& work) noexcept {
  auto* producer = ProducerIn(stream);
  try {
    const Status status = work(producer);
    if (status.ok()) return 0;
    producer->error = status.message();
    return NumberOf(status);
  } catch (const std::bad_alloc&) {
    producer->error.clear();
    return ENOMEM;
  } catch (...) {
    producer->error.clear();
    return EINVAL;
  }
}

int GetSchema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
  return Answer(self, [&](Producer* producer) { return producer->GetSchema(out); });
}

int GetNext(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
  *out = ArrowDeviceArray{};
  return Answer(self, [&](Producer* producer) { return producer->GetNext(out); });
}

const char* GetLastError(ArrowDeviceArrayStream* self) {
  const auto& error = ProducerIn(self)->error;
  return error.empty() ? nullptr : error.c_str();
}

void Release(ArrowDeviceArrayStream* self) {
  delete ProducerIn(self);
  self->private_data = nullptr;
  self->release = nullptr;
}

template <typename Type, typename Data>
Status Start(std::unique_ptr<ProducerOf<Type, Data>> producer, ArrowDeviceArrayStream* out) {
  ARROW_RETURN_NOT_OK(producer->FindDevice());
  out->device_type = producer->id().type;
  out->get_schema = GetSchema;
  out->get_next = GetNext;
  out->get_last_error = GetLastError;
  out->release = Release;
  out->private_data = static_cast<Producer*>(producer.release());
  return Status::OK();
}

}  // namespace

Status ExportStream(ReaderPtr reader, ArrowDeviceArrayStream* out) {
  auto schema = reader->schema();
  const auto next = [reader = std::move(reader)]() { return reader->Next(); };
  using Batches = ProducerOf<arrow::Schema, arrow::RecordBatch>;
  return Start(std::make_unique<Batches>(std::move(schema), next), out);
}

Status ExportStream(ChunkedPtr array, ArrowDeviceArrayStream* out) {
  auto type = array->type();
  const auto next = [array = std::move(array), at = 0]() mutable -> Result<ArrayPtr> {
    return at < array->num_chunks() ? array->chunk(at++) : nullptr;
  };
  using Chunks = ProducerOf<DataType, arrow::Array>;
  return Start(std::make_unique<Chunks>(std::move(type), next), out);
}

}  // namespace arrow_cuda
