# Arrays, batches and tables are copied on a stream.
# shows: additions, Streams
#   pyarrow.Table.copy_to(stream): on a stream: from device memory and pinned memory to a device it
#     returns at once, else when the copy is complete
#   pyarrow.RecordBatch.copy_to(stream): on a stream
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
stream = Stream(ctx, non_blocking=True)
table = pa.table({"x": [1, None, 3], "s": ["one", None, "three"]})
# From pageable memory, and to it, the copy is complete when the call returns.
there = table.copy_to(ctx.device, stream=stream)
there.copy_to(host, stream=stream).equals(table)
# From device memory and from pinned memory it returns at once, and retains both ends.
again = there.copy_to(ctx.memory_manager, stream=stream)
pinned = cuda.new_host_buffer(80)
np.frombuffer(pinned, np.int64)[:] = range(10)
array = pa.Array.from_buffers(pa.int64(), 10, [None, pinned], null_count=0)
batch = pa.record_batch([array], ["x"]).copy_to(ctx.device, stream=stream)
del there, pinned, array
stream.synchronize()
again.copy_to(host).equals(table)
batch.copy_to(host).to_pydict()
# A handle alone is no stream.
try:
    table.copy_to(ctx.device, stream=stream.handle)
except TypeError as error:
    print(str(error).partition(":")[0])
