# How a buffer shows itself.
# shows: cuda_buffer, class
#   CudaBuffer: its repr: address, size, where it lies, whether it is mutable
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf
buf.slice(3)
ctx.new_buffer(0)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1))
str(buf) == repr(buf)
f"address={buf.address:#x} " in repr(buf)
[buf.slice(0, 1), buf.slice(0, 2)]
