# A buffer of the second device names that device, however it was made.
# needs: two devices
# shows: cuda_buffer, context
#   CudaBuffer.context: the right one of several devices
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(1)
buf = ctx.buffer_from_data(b"0123456789")
buf.context.device_number
buf.context.handle == ctx.handle
buf.context.handle == cuda.Context(0).handle
buf.slice(3).context.device_number
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1)).context.device_number
ctx.new_buffer(0).context.device_number
ctx.foreign_buffer(buf.address, 4, base=buf).context.device_number
buf.context.new_buffer(5).context.device_number
(buf.context.bytes_allocated, cuda.Context(0).bytes_allocated)
array = pa.array([1, 2]).copy_to(ctx.memory_manager)
cuda.CudaBuffer.from_buffer(array.buffers()[1]).context.device_number
