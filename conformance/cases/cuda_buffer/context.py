# The context of a buffer is the one that it was made in, with which more can be made.
# shows: cuda_buffer, context
#   CudaBuffer.context: the CUDA driver context that the buffer lives in
# shows: cuda_buffer, inherited
#   CudaBuffer.device: the device that the buffer lies on
#   CudaBuffer.memory_manager: the memory manager of the buffer's device
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
type(buf.context)
buf.context.device_number
buf.context.handle == ctx.handle
buf.context.bytes_allocated
buf.context.synchronize()
buf.context.buffer_from_data(b"more").to_pybytes()
[part.context.handle == ctx.handle for part in (buf[2:], buf.slice(9), ctx.new_buffer(0))]
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1)).context.handle == ctx.handle
(buf.device == ctx.device, buf.memory_manager.device == ctx.device)

# It serves on when neither the first context nor the buffer is there any more.
kept = buf.context
del ctx, buf
kept.bytes_allocated
kept.buffer_from_data(b"still here").to_pybytes()
kept.new_buffer(1).context = kept
