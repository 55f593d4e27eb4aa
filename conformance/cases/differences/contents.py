# Single bytes and hexadecimal digits of device memory are copied, not refused.
# shows: additions, Device buffers
#   CudaBuffer.hex: the content as hexadecimal digits
#   CudaBuffer.__getitem__: single bytes by index
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"\x00\x7f\xff0123456")
buf.hex()
(buf[0], buf[2], buf[-1])
list(buf[1:4].to_pybytes())
buf[10]
buf[::2]
ctx.new_buffer(0).hex()
