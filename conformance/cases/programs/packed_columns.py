# The columns of a batch lie in one buffer one after another, and are arrays there.
# shows: programs, Columns
#   CudaBuffer.copy_from_host(position): each column goes behind the one before it
#   new_host_buffer: page-locked memory takes what comes back
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32()), "b": [0.25, 0.5, 0.75]})
whole = ctx.new_buffer(batch.nbytes)
end, columns = 0, []
for column in batch.columns:
    host = column.buffers()[1]
    size = whole.copy_from_host(host, position=end, nbytes=column.nbytes)
    columns.append(pa.Array.from_buffers(column.type, 3, [None, whole.slice(end, size)]))
    end += size
end
there = pa.record_batch(columns, schema=batch.schema)
(there.is_cpu, there.copy_to(pa.default_cpu_memory_manager()).equals(batch))
staging = cuda.new_host_buffer(batch.nbytes)
_ = whole.copy_to_host(buf=staging)
np.frombuffer(staging, np.float64, count=3, offset=12).tolist()
