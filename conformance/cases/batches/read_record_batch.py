# A record batch is read from a message: its columns stay in the message's memory.
# shows: pyarrow_cuda
#   read_record_batch: a RecordBatch whose columns lie in the message's memory
#   read_record_batch(buffer): the device buffer with the message
#   read_record_batch(schema): the schema of the batch
#   read_record_batch(schema): a schema that does not match the message is refused
#   serialize_record_batch: another process reads the batch through the message's handle
import subprocess
import sys

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
message = cuda.serialize_record_batch(batch, ctx)
before = ctx.bytes_allocated
there = cuda.read_record_batch(message, batch.schema)
type(there), there.num_rows, there.num_columns, there.schema == batch.schema
ctx.bytes_allocated - before
buffers = [buf for column in there.columns for buf in column.buffers() if buf]
len(buffers), [buf.is_cpu for buf in buffers]
all(0 < buf.address - message.address <= message.size - buf.size for buf in buffers)
[column.device_type == pa.DeviceAllocationType.CUDA for column in there.columns]
(there.is_cpu, there.device_type == pa.DeviceAllocationType.CUDA)
there.to_pylist()
# Copied back to the host it equals what was written.
back = there.copy_to(pa.default_cpu_memory_manager())
back.validate(full=True)
back.equals(batch), back.to_pylist()
cuda.read_record_batch(buffer=message, schema=batch.schema).num_rows
# The batch keeps the message's memory.
del message, buffers
there.column(1).copy_to(pa.default_cpu_memory_manager()).to_pylist()
del there
ctx.bytes_allocated - before + batch.serialize().size

# A message is read with its own schema; another one is refused.
message = cuda.serialize_record_batch(batch, ctx)


def refused(schema):
    try:
        cuda.read_record_batch(message, schema=schema)
    except (pa.ArrowInvalid, OSError):
        return True
    return False


refused(batch.schema), refused(batch.schema.append(pa.field("more", pa.int8())))
refused(pa.schema([("x", pa.int64()), ("s", pa.list_(pa.string()))]))
refused(pa.schema([("x", pa.int64()), ("s", pa.large_string())]))
refused(pa.schema([("x", pa.decimal256(9)), ("s", pa.string())]))
# Names and metadata are the schema's that is given.
renamed = pa.schema([("a", pa.int64()), ("b", pa.string())], metadata={"key": "value"})
there = cuda.read_record_batch(message, renamed)
(there.schema.names, there.schema.metadata)
# A message of another kind is no batch.
cuda.read_message(ctx.buffer_from_data(batch.schema.serialize())).type
try:
    cuda.read_record_batch(ctx.buffer_from_data(batch.schema.serialize()), batch.schema)
except (pa.ArrowInvalid, OSError):
    "refused"

# Another process reads a record batch where it lies.
program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
buf = cuda.Context().open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
schema = pa.schema([("x", pa.int64()), ("s", pa.string())])
there = cuda.read_record_batch(buf, schema)
print([column.is_cpu for column in there.columns])
print(there.copy_to(pa.default_cpu_memory_manager()).to_pylist())
"""
message = cuda.serialize_record_batch(batch, cuda.Context())
handle = message.export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
