# The content as Python bytes.
# shows: cuda_buffer, to_pybytes
#   CudaBuffer.to_pybytes: the content as Python's bytes
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"some\x00bytes\xff")
buf.to_pybytes()
type(buf.to_pybytes())
buf.slice(5, 5).to_pybytes()
buf[-1:].to_pybytes()
buf.slice(2).slice(1, 3).to_pybytes()
ctx.new_buffer(0).to_pybytes()
data = bytes(range(256)) * 300
ctx.buffer_from_data(data).to_pybytes() == data

# A copy of the moment.
before = buf.to_pybytes()
buf.copy_from_host(b"SOME")
(before, buf.to_pybytes())
del buf
(ctx.bytes_allocated, before)
