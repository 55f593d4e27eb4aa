// The functions of `BridgeApi`, each with the name of its row; src/ffi.rs documents them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "border/ffi.h"

namespace arrow_cuda {

// entries/buffers.cc
bool InitBufferEntry(PyObject* fresh, RustBuffer* raw, Failure* failure) noexcept;
bool InitSliceEntry(PyObject* fresh, PyObject* parent, RustBuffer* raw,
                    Failure* failure) noexcept;
bool InitFromBufferEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept;
bool InitHostBufferEntry(PyObject* fresh, RustHostBuffer* raw, Failure* failure) noexcept;
bool InitHostSliceEntry(PyObject* fresh, PyObject* host_buffer, int64_t offset, int64_t size,
                        Failure* failure) noexcept;
const RustBuffer* BufferOfEntry(PyObject* object) noexcept;
bool SpanOfEntry(PyObject* object, Span* out) noexcept;
bool ExposeAddressEntry(PyObject* object, uint64_t* out) noexcept;
PyObject* AllocateHostEntry(int64_t size, Failure* failure) noexcept;
bool InitPoolEntry(PyObject* fresh, const RustPool* pool, Failure* failure) noexcept;
const RustPool* PoolOfEntry(PyObject* object) noexcept;

// entries/files.cc
bool InitReaderEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept;
bool InitWriterEntry(PyObject* fresh, PyObject* buffer, Failure* failure) noexcept;
RustReader* ReaderOfEntry(PyObject* object) noexcept;
RustWriter* WriterOfEntry(PyObject* object) noexcept;
bool ExpectMetadataEntry(PyObject* object, int64_t position, const uint8_t* metadata,
                         size_t metadata_size, const MessageFacts* facts,
                         Failure* failure) noexcept;

// entries/objects.cc
bool HasBatchEntry(PyObject* object) noexcept;
bool HasSchemaEntry(PyObject* object) noexcept;
bool HasArraysEntry(PyObject* object) noexcept;
bool HasReaderEntry(PyObject* reader) noexcept;
bool IsOnDeviceEntry(PyObject* object) noexcept;
int32_t DeviceOfEntry(PyObject* object) noexcept;
bool HasDevicesEntry() noexcept;

// entries/messages.cc
Payload* PayloadOpenEntry(PyObject* object, Failure* failure) noexcept;
bool PayloadRangesEntry(Payload* payload, const HostRange** ranges, size_t* count,
                       Failure* failure) noexcept;
void PayloadReleaseEntry(Payload* payload) noexcept;
PyObject* ReadBatchEntry(PyObject* buffer, PyObject* schema_object, PyObject* memo,
                         const uint8_t* metadata, size_t metadata_size,
                         const MessageFacts* facts, RustBuffer* raw, Failure* failure) noexcept;

// entries/exchange.cc
PyObject* PrepareEntry(PyObject* object, bool is_batch, Failure* failure) noexcept;
bool CountNullsEntry(PyObject* object, Failure* failure) noexcept;
bool FinishExportEntry(PyObject* object, void* exported, void* schema, Failure* failure) noexcept;
PyObject* PrepareImportEntry(void* imported, void* schema, PyObject* described, bool is_batch,
                             Failure* failure) noexcept;
PyObject* FinishImportEntry(PyObject* object, const void* imported, Failure* failure) noexcept;

PyObject* PlacedEntry(PyObject* object, Failure* failure) noexcept;

// entries/streams.cc
bool ExportStreamEntry(PyObject* object, bool is_reader, void* exported,
                       Failure* failure) noexcept;
bool ImportStreamEntry(PyObject* fresh, void* exported, Failure* failure) noexcept;
PyObject* ImportChunksEntry(void* exported, Failure* failure) noexcept;

// entries/copies.cc
PyObject* CopyToEntry(PyObject* object, DataKind kind, PyObject* destination, bool is_device,
                      const RustStream* stream, Failure* failure) noexcept;
int32_t DestinationDeviceEntry(PyObject* destination, bool is_device) noexcept;
PyObject* BufferToEntry(PyObject* object, PyObject* destination, bool is_device, bool is_view,
                        Failure* failure) noexcept;

// entries/pickling.cc
PyObject* SkeletonOfEntry(PyObject* object, Failure* failure) noexcept;
PyObject* AssembleEntry(PyObject* schema, PyObject* const* columns, size_t count,
                        Failure* failure) noexcept;

}  // namespace arrow_cuda
