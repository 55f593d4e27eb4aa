# Batches and arrays on the second device.
# needs: two devices
# shows: pyarrow_cuda
#   serialize_record_batch(ctx): a context of any device
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import set_allocator

first, second = cuda.Context(0), cuda.Context(1)
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
before = (first.bytes_allocated, second.bytes_allocated)
message = cuda.serialize_record_batch(batch, ctx=second)
message.context.device_number
(first.bytes_allocated - before[0], second.bytes_allocated - before[1] == message.size)
there = cuda.read_record_batch(message, batch.schema)
there.column(0).buffers()[1].device == second.device, there.copy_to(host).equals(batch)
stream = batch.schema.serialize().to_pybytes() + batch.serialize().to_pybytes()
second.table_from_file(stream)["x"].chunk(0).buffers()[1].device == second.device
# From device to device.
here = there.column(1).copy_to(first.memory_manager)
here.buffers()[1].device == first.device, here.copy_to(host).to_pylist()
set_allocator((lambda nbytes: 1 / 0, print), context=second)
first.new_buffer(1).context.device_number
second.new_buffer(1)
