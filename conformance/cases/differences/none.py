# None and other wrong objects are TypeErrors.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, 2]})
message = cuda.serialize_record_batch(batch, ctx)
cuda.CudaBuffer.from_buffer(None)
cuda.BufferReader(None)
cuda.BufferWriter(None)
cuda.IpcMemHandle.from_buffer(None)
cuda.read_message(None)
cuda.read_record_batch(None, batch.schema)
cuda.read_record_batch(message, None)
cuda.serialize_record_batch(None, ctx)
cuda.serialize_record_batch(batch, None)
ctx.open_ipc_buffer(None)
message.equals(None)
message.copy_from_device(None)
cuda.read_record_batch(message, batch.schema).num_rows
