#include "c_data/streams.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "arrow/c/bridge.h"
#include "arrow/c/helpers.h"
#include "arrow/type.h"
#include "c_data/c_device.h"
#include "c_data/exportable.h"
#include "c_data/device_id.h"
#include "c_data/structure.h"

namespace arrow_cuda {
namespace {

class Stream {
 public:
  static Result<Stream> Take(ArrowDeviceArrayStream* stream) {
    if (stream->release == nullptr) {
      return Status::Invalid("Cannot import released ArrowDeviceArrayStream");
    }
    Stream taken(stream);
    if (taken.stream_.get_schema == nullptr || taken.stream_.get_next == nullptr) {
      return Status::Invalid("the ArrowDeviceArrayStream lacks functions");
    }
    return taken;
  }

  Stream(Stream&& other) noexcept
      : stream_(std::exchange(other.stream_, {})), device_(other.device_) {}

  ~Stream() { Release(); }

  void Release() {
    if (stream_.release != nullptr) stream_.release(&stream_);
    stream_ = {};
  }

  arrow::DeviceAllocationType device_type() const {
    return static_cast<arrow::DeviceAllocationType>(stream_.device_type);
  }

  // The schema, ready for libarrow to import.
  Result<ArrowSchema> GetSchema() {
    ArrowSchema schema{};
    ARROW_RETURN_NOT_OK(Check(stream_.get_schema(&stream_, &schema), "get_schema"));
    const Status status = CheckStructure(schema);
    if (status.ok()) return schema;
    ArrowSchemaRelease(&schema);
    return status;
  }

  // The next array, of that type, ready for libarrow to import; none at the end.
  Result<std::optional<ArrowDeviceArray>> Next(bool is_batch, const TypePtr& type) {
    if (stream_.release == nullptr) return Status::Invalid("the stream is closed");
    ArrowDeviceArray array{};
    ARROW_RETURN_NOT_OK(Check(stream_.get_next(&stream_, &array), "get_next"));
    if (ArrowArrayIsReleased(&array.array)) return std::nullopt;
    Status status = CheckDevice({array.device_type, array.device_id});
    ReadOnHost reads;
    if (status.ok()) status = CheckStructure(&array.array, *type, &reads);
    if (status.ok()) status = PrepareImport(is_batch, ReadsData({type}), reads, &array);
    if (status.ok()) return array;
    ArrowArrayRelease(&array.array);
    return status;
  }

 private:
  explicit Stream(ArrowDeviceArrayStream* stream) : stream_(*stream) { stream->release = nullptr; }

  Status CheckDevice(const DeviceId& id) {
    if (id.type != stream_.device_type) {
      return Status::Invalid("the stream has an array on ", id.ToString(),
                             ", which is another type of device than its own, ",
                             static_cast<int>(stream_.device_type));
    }
    if (!device_.has_value()) device_ = id;
    if (id != *device_) {
      return Status::Invalid("the stream has an array on ", id.ToString(), " after one on ",
                             device_->ToString(), ": a stream has one device");
    }
    return Status::OK();
  }

  Status Check(int code, const char* function) {
    if (code == 0) return Status::OK();
    const char* text = stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    const std::string said = text == nullptr ? std::strerror(code) : text;
    switch (code) {
      case ENOMEM:
        return Status::OutOfMemory(said);
      case ENOSYS:
        return Status::NotImplemented(said);
      case EINVAL:
        return Status::Invalid(said);
      default:
        return Status::IOError(function, " of the stream failed: ", said);
    }
  }

  ArrowDeviceArrayStream stream_;
  std::optional<DeviceId> device_;
};

// The data that libarrow has imported, with its empty buffers on the device of the others, and its nulls
// counted: libarrow would count them on the host.
template <typename Data>
Result<Data> Finished(Result<Data> imported, ArrowDeviceArray* origin) {
  // libarrow leaves what lies on an unknown device as it is.
  if (!imported.ok()) ArrowArrayRelease(&origin->array);
  ARROW_ASSIGN_OR_RAISE(auto data, std::move(imported));
  ARROW_ASSIGN_OR_RAISE(data, FinishImport(data, *origin));
  return Exportable(data);
}

class Reader : public arrow::RecordBatchReader {
 public:
  Reader(Stream stream, SchemaPtr schema)
      : stream_(std::move(stream)),
        schema_(std::move(schema)),
        type_(arrow::struct_(schema_->fields())),
        device_type_(stream_.device_type()) {}

  SchemaPtr schema() const override { return schema_; }

  arrow::DeviceAllocationType device_type() const override { return device_type_; }

  Status ReadNext(BatchPtr* batch) override {
    batch->reset();
    ARROW_ASSIGN_OR_RAISE(auto array, stream_.Next(true, type_));
    if (!array.has_value()) return Status::OK();
    return Finished(arrow::ImportDeviceRecordBatch(&*array, schema_), &*array).Value(batch);
  }

  Status Close() override {
    stream_.Release();
    return Status::OK();
  }

 private:
  Stream stream_;
  const SchemaPtr schema_;
  const TypePtr type_;
  const arrow::DeviceAllocationType device_type_;
};

}  // namespace

Result<ReaderPtr> ImportBatches(ArrowDeviceArrayStream* exported) {
  ARROW_ASSIGN_OR_RAISE(auto stream, Stream::Take(exported));
  ARROW_ASSIGN_OR_RAISE(auto described, stream.GetSchema());
  ARROW_ASSIGN_OR_RAISE(auto schema, arrow::ImportSchema(&described));
  return std::make_shared<Reader>(std::move(stream), std::move(schema));
}

Result<ChunkedPtr> ImportChunks(ArrowDeviceArrayStream* exported) {
  ARROW_ASSIGN_OR_RAISE(auto stream, Stream::Take(exported));
  ARROW_ASSIGN_OR_RAISE(auto described, stream.GetSchema());
  ARROW_ASSIGN_OR_RAISE(const auto type, arrow::ImportType(&described));
  arrow::ArrayVector chunks;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto array, stream.Next(false, type));
    if (!array.has_value()) break;
    ARROW_ASSIGN_OR_RAISE(auto chunk, Finished(arrow::ImportDeviceArray(&*array, type), &*array));
    chunks.push_back(std::move(chunk));
  }
  return std::make_shared<arrow::ChunkedArray>(std::move(chunks), type);
}

}  // namespace arrow_cuda
