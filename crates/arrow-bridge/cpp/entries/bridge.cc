// The table of C++ functions for Rust, and the one function that the library exports.
#include <type_traits>

#include "arrow/util/config.h"
#include "border/ffi.h"
#include "border/rust.h"
#include "border/status.h"
#include "entries/entries.h"
#include "exchange/mappers.h"

namespace arrow_cuda {
namespace {

using arrow::Status;

constexpr BridgeApi kBridge{
    .abi_version = kAbiVersion,
    .arrow_major = ARROW_VERSION_MAJOR,
    .init_buffer = InitBufferEntry,
    .init_slice = InitSliceEntry,
    .init_from_buffer = InitFromBufferEntry,
    .init_host_buffer = InitHostBufferEntry,
    .init_host_slice = InitHostSliceEntry,
    .init_reader = InitReaderEntry,
    .init_writer = InitWriterEntry,
    .init_pool = InitPoolEntry,
    .buffer_of = BufferOfEntry,
    .reader_of = ReaderOfEntry,
    .writer_of = WriterOfEntry,
    .pool_of = PoolOfEntry,
    .span_of = SpanOfEntry,
    .expose_address = ExposeAddressEntry,
    .allocate_host = AllocateHostEntry,
    .has_batch = HasBatchEntry,
    .has_schema = HasSchemaEntry,
    .has_arrays = HasArraysEntry,
    .has_reader = HasReaderEntry,
    .is_on_device = IsOnDeviceEntry,
    .device_of = DeviceOfEntry,
    .has_devices = HasDevicesEntry,
    .payload_open = PayloadOpenEntry,
    .payload_ranges = PayloadRangesEntry,
    .payload_release = PayloadReleaseEntry,
    .read_batch = ReadBatchEntry,
    .expect_metadata = ExpectMetadataEntry,
    .prepare = PrepareEntry,
    .count_nulls = CountNullsEntry,
    .copy_to = CopyToEntry,
    .destination_device = DestinationDeviceEntry,
    .buffer_to = BufferToEntry,
    .placed = PlacedEntry,
    .finish_export = FinishExportEntry,
    .prepare_import = PrepareImportEntry,
    .finish_import = FinishImportEntry,
    .export_stream = ExportStreamEntry,
    .import_stream = ImportStreamEntry,
    .import_chunks = ImportChunksEntry,
    .skeleton_of = SkeletonOfEntry,
    .assemble = AssembleEntry,
};

Status Start(const RustApi* rust, const PyarrowApi* pyarrow) {
  if (rust == nullptr || pyarrow == nullptr) return Status::Invalid("missing table");
  if (rust->abi_version != kAbiVersion) {
    return Status::Invalid("the bridge has interface version ", kAbiVersion, ", its caller has ",
                           rust->abi_version);
  }
  SetTables(rust, pyarrow);
  return RegisterMappers();
}

}  // namespace
}  // namespace arrow_cuda

extern "C" __attribute__((visibility("default"))) const arrow_cuda::BridgeApi* arrow_cuda_bridge(
    const arrow_cuda::RustApi* rust, const arrow_cuda::PyarrowApi* pyarrow,
    arrow_cuda::Failure* failure) {
  using namespace arrow_cuda;
  static_assert(std::is_same_v<decltype(&arrow_cuda_bridge), Entry>);
  return Guard(failure, [&] { return Start(rust, pyarrow); }) ? &kBridge : nullptr;
}
