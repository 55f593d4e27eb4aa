// The functions of `BridgeApi`, each with the row that it fills; src/ffi.rs has their types.
#pragma once

#include "border/ffi.h"

#define ARROW_CUDA_ROWS(ROW)                              \
  ROW(init_buffer, InitBufferEntry)                       \
  ROW(init_slice, InitSliceEntry)                         \
  ROW(init_from_buffer, InitFromBufferEntry)              \
  ROW(init_host_buffer, InitHostBufferEntry)              \
  ROW(init_host_slice, InitHostSliceEntry)                \
  ROW(init_reader, InitReaderEntry)                       \
  ROW(init_writer, InitWriterEntry)                       \
  ROW(init_pool, InitPoolEntry)                           \
  ROW(buffer_of, BufferOfEntry)                           \
  ROW(elements_of, ElementsOfEntry)                       \
  ROW(reader_of, ReaderOfEntry)                           \
  ROW(writer_of, WriterOfEntry)                           \
  ROW(pool_of, PoolOfEntry)                               \
  ROW(span_of, SpanOfEntry)                               \
  ROW(expose_address, ExposeAddressEntry)                 \
  ROW(allocate_host, AllocateHostEntry)                   \
  ROW(is_initialised, IsInitialisedEntry)                 \
  ROW(is_initialised_reader, IsInitialisedReaderEntry)    \
  ROW(is_on_device, IsOnDeviceEntry)                      \
  ROW(device_of, DeviceOfEntry)                           \
  ROW(has_devices, HasDevicesEntry)                       \
  ROW(payload_open, PayloadOpenEntry)                     \
  ROW(payload_ranges, PayloadRangesEntry)                 \
  ROW(payload_release, PayloadReleaseEntry)               \
  ROW(read_batch, ReadBatchEntry)                         \
  ROW(expect_metadata, ExpectMetadataEntry)               \
  ROW(prepare, PrepareEntry)                              \
  ROW(count_nulls, CountNullsEntry)                       \
  ROW(copy_to, CopyToEntry)                               \
  ROW(copy_slice, CopySliceEntry)                         \
  ROW(combine, CombineEntry)                              \
  ROW(destination_device, DestinationDeviceEntry)         \
  ROW(buffer_to, BufferToEntry)                           \
  ROW(placed, PlacedEntry)                                \
  ROW(finish_export, FinishExportEntry)                   \
  ROW(prepare_import, PrepareImportEntry)                 \
  ROW(finish_import, FinishImportEntry)                   \
  ROW(export_stream, ExportStreamEntry)                   \
  ROW(import_stream, ImportStreamEntry)                   \
  ROW(import_chunks, ImportChunksEntry)                   \
  ROW(read_ahead, ReadAheadEntry)                         \
  ROW(run_ahead, RunAheadEntry)                           \
  ROW(take_batches, TakeBatchesEntry)                     \
  ROW(copy_taken, CopyTakenEntry)                         \
  ROW(table_of_stored, TableOfStoredEntry)                \
  ROW(wrap_table, WrapTableEntry)                         \
  ROW(decoder_open, DecoderOpenEntry)                     \
  ROW(decoder_reset, DecoderResetEntry)                   \
  ROW(decoder_decode, DecoderDecodeEntry)                 \
  ROW(decoder_release, DecoderReleaseEntry)               \
  ROW(skeleton_of, SkeletonOfEntry)                       \
  ROW(assemble, AssembleEntry)

namespace arrow_cuda {

// The type of the functions that a row of the table points to, none of which throws.
template <typename Row>
struct EntryOf;
template <typename Result, typename... Parameters>
struct EntryOf<Result (*)(Parameters...)> {
  using Type = Result(Parameters...) noexcept;
};

#define ARROW_CUDA_DECLARE(row, Entry) EntryOf<decltype(BridgeApi::row)>::Type Entry;
ARROW_CUDA_ROWS(ARROW_CUDA_DECLARE)
#undef ARROW_CUDA_DECLARE

}  // namespace arrow_cuda
