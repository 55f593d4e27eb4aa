# A buffer's context knows its device: of the second one, too.
# needs: two devices
from pyarrow import cuda

ctx = cuda.Context(1)
buf = ctx.new_buffer(10)
buf.context.device_number
buf.slice(2).context.device_number
cuda.CudaBuffer.from_buffer(buf.slice(1, 4).parent).context.device_number
