# Buffers of two devices: each names its own, and they compare by what they hold.
# needs: two devices
# shows: cuda_buffer, context
#   CudaBuffer.context: the right one of several devices
# shows: cuda_buffer, equals
#   CudaBuffer.equals: buffers on two devices
# shows: additions, Device buffers
#   CudaBuffer.equals: equality of buffers on two devices
import pyarrow as pa
from pyarrow import cuda

# A buffer of the second device names that device, however it was made.
ctx = cuda.Context(1)
buf = ctx.buffer_from_data(b"0123456789")
buf.context.device_number, buf.context.handle == ctx.handle
buf.context.handle == cuda.Context(0).handle, buf.slice(3).context.device_number
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1)).context.device_number
ctx.new_buffer(0).context.device_number
ctx.foreign_buffer(buf.address, 4, base=buf).context.device_number
buf.context.new_buffer(5).context.device_number
(buf.context.bytes_allocated, cuda.Context(0).bytes_allocated)
array = pa.array([1, 2]).copy_to(ctx.memory_manager)
cuda.CudaBuffer.from_buffer(array.buffers()[1]).context.device_number

# Buffers on two devices compare by what they hold.
here, there = cuda.Context(0), cuda.Context(1)
buf = here.buffer_from_data(b"0123456789")
far = there.buffer_from_data(b"0123456789")
buf.equals(far), far.equals(buf), buf == far, far.copy_from_host(b"X", position=9)
(buf.equals(far), far.equals(buf), buf != far)
(buf.slice(0, 9).equals(far.slice(0, 9)), buf.slice(0, 9).equals(far))
data = bytes(range(251)) * 20_000
large, twin = here.buffer_from_data(data), there.buffer_from_data(data)
large.equals(twin), twin.copy_from_host(b"\xff", position=len(data) - 1), large.equals(twin)
large.slice(0, len(data) - 1).equals(twin.slice(0, len(data) - 1))
data = bytes(64 << 20) + b"x"
here.buffer_from_data(data).equals(there.buffer_from_data(data))
