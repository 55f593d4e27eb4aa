// Additions to libarrow's C Device interface: events of exported arrays, and synchronisation of data
// that libarrow reads during an import.
#pragma once

#include <vector>

#include "arrow/c/abi.h"
#include "border/names.h"
#include "c_data/exportable.h"
#include "c_data/structure.h"

namespace arrow_cuda {

// Whether GPU work may be pending on the structure's memory.
bool IsOnGpu(const ArrowDeviceArray& array);

// Completes what libarrow has exported from `columns`: exposes their device memory, and adds an event
// for their pending work, if there is any.  The event lives until the structure is released.
Status FinishExport(const ArrayDataVector& columns, ArrowDeviceArray* exported);

// Exposes the device memory of columns on a device, and has its default stream wait for their events.
Status MakeReady(const ArrayDataVector& columns, int32_t device);

// Whether an event says when the structure's memory is ready.
bool MayBePending(const ArrowDeviceArray& array);

// Whether libarrow reads data of arrays of these types while it imports them.
bool ReadsData(const std::vector<TypePtr>& types);

// Waits for the structure's event if libarrow reads data before it knows the event, and counts
// unknown nulls of a structure that becomes a batch.  `reads` are parts of it: nulls of maps are
// counted, and sizes of views brought to the host.
Status PrepareImport(bool is_batch, bool reads_data, const ReadOnHost& reads,
                     ArrowDeviceArray* array);

// Moves the empty buffers of imported data to the device of the others.  Fails where a size that libarrow has
// taken from the structure's data is negative.
Result<ArrayPtr> FinishImport(const ArrayPtr& imported, const ArrowDeviceArray& origin);
Result<BatchPtr> FinishImport(const BatchPtr& imported, const ArrowDeviceArray& origin);

}  // namespace arrow_cuda
