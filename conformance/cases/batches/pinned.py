# Batches in page-locked memory, and of mixed memory, are written like any other.
# shows: additions, Record batches
#   serialize_record_batch: writes batches in pinned memory, and batches in mixed memory
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
pinned = cuda.new_host_buffer(24)
np.frombuffer(pinned, np.int64)[:] = [1, 2, 3]
device = ctx.buffer_from_data(np.int64([7, 8, 9]))
x = pa.Array.from_buffers(pa.int64(), 3, [None, pinned])
y = pa.Array.from_buffers(pa.int64(), 3, [None, device], null_count=0)
batch = pa.RecordBatch.from_arrays([x], ["x"])
message = cuda.serialize_record_batch(batch=batch, ctx=ctx)
message.equals(pa.record_batch({"x": [1, 2, 3]}).serialize())
mixed = pa.RecordBatch.from_arrays([x, y, pa.array(["a", None, "c"])], ["x", "y", "z"])
there = cuda.read_record_batch(cuda.serialize_record_batch(mixed, ctx), mixed.schema)
there.copy_to(pa.default_cpu_memory_manager()).to_pydict()
