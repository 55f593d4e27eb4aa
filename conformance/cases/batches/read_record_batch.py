# A record batch is read from a message: its columns stay in the message's memory.
# shows: pyarrow_cuda
#   read_record_batch: a RecordBatch whose columns lie in the message's memory
#   read_record_batch(buffer): the device buffer with the message
#   read_record_batch(schema): the schema of the batch
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
message = cuda.serialize_record_batch(batch, ctx)
before = ctx.bytes_allocated
there = cuda.read_record_batch(message, batch.schema)
type(there)
(there.num_rows, there.num_columns, there.schema == batch.schema)
ctx.bytes_allocated - before
buffers = [buf for column in there.columns for buf in column.buffers() if buf]
len(buffers)
[buf.is_cpu for buf in buffers]
all(0 < buf.address - message.address <= message.size - buf.size for buf in buffers)
[column.device_type == pa.DeviceAllocationType.CUDA for column in there.columns]
(there.is_cpu, there.device_type == pa.DeviceAllocationType.CUDA)
there.to_pylist()
# Copied back to the host it equals what was written.
back = there.copy_to(pa.default_cpu_memory_manager())
back.validate(full=True)
back.equals(batch)
back.to_pylist()
cuda.read_record_batch(buffer=message, schema=batch.schema).num_rows
# The batch keeps the message's memory.
del message, buffers
there.column(1).copy_to(pa.default_cpu_memory_manager()).to_pylist()
del there
ctx.bytes_allocated - before + batch.serialize().size
