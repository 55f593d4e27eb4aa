// Queries of pyarrow's objects: whether they are initialised, and which device holds their data.
#include "entries/entries.h"

#include "entries/require.h"
#include "memory/device.h"
#include "memory/on_device.h"
#include "memory/resolve.h"
#include "pyarrow/objects.h"

namespace arrow_cuda {

bool IsInitialisedEntry(PyObject* object) noexcept {
  return UnwrapArray(object) != nullptr || UnwrapBatch(object) != nullptr ||
         UnwrapChunkedArray(object) != nullptr || UnwrapTable(object) != nullptr ||
         UnwrapSchema(object) != nullptr;
}

bool IsInitialisedReaderEntry(PyObject* reader) noexcept {
  return UnwrapReader(reader) != nullptr;
}

bool IsOnDeviceEntry(PyObject* object) noexcept {
  if (const auto array = UnwrapArray(object)) return IsOnDevice(*array->data());
  if (const auto batch = UnwrapBatch(object)) return IsOnDevice(*batch);
  if (const auto array = UnwrapChunkedArray(object)) return IsOnDevice(*array);
  if (const auto table = UnwrapTable(object)) return IsOnDevice(*table);
  const auto buffer = UnwrapBuffer(object);
  return buffer != nullptr && (!buffer->is_cpu() || IsOnDevice(*buffer));
}

int32_t DeviceOfEntry(PyObject* object) noexcept { return DeviceOf(ColumnsOf(object)); }

bool HasDevicesEntry() noexcept { return Device::HasAny(); }

}  // namespace arrow_cuda
