# A message is read: its metadata on the host, its body still on the device.
# shows: pyarrow_cuda
#   read_message: a Message: its metadata on the host, its body on the device
#   read_message(source): a device buffer
#   read_message(pool): a memory pool for the metadata; the default one by default
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3]})
buf = cuda.serialize_record_batch(batch, ctx)
message = cuda.read_message(buf)
type(message)
message.type
message.metadata.is_cpu
(message.body.is_cpu, message.body.device_type == pa.DeviceAllocationType.CUDA)
body = cuda.CudaBuffer.from_buffer(message.body)
body.address + body.size == buf.address + buf.size
expected = pa.ipc.read_message(batch.serialize())
message.metadata.equals(expected.metadata), message.serialize().equals(batch.serialize())
body.to_pybytes() == expected.body.to_pybytes()
pa.ipc.read_record_batch(message, batch.schema).copy_to(host).equals(batch)
cuda.read_message(source=buf, pool=None).type
cuda.read_message(buf, pool=pa.default_memory_pool()).type
reader = cuda.BufferReader(ctx.buffer_from_data(b"8 bytes." + batch.serialize().to_pybytes()))
reader.seek(8), cuda.read_message(reader).type
# The message keeps the memory.
del buf, body
pa.ipc.read_record_batch(message, batch.schema).copy_to(host).equals(batch)
