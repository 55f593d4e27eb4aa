# A copy within one buffer is right even where the two parts overlap.
# shows: additions, Device buffers
#   CudaBuffer.copy_from_device: copies within one buffer, overlapping or not
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_from_device(buf.slice(0, 7), position=2)
buf.to_pybytes()
buf.copy_from_host(b"0123456789")
buf.slice(0, 7).copy_from_device(buf.slice(3))
buf.to_pybytes()
large = bytes(range(256)) * 4096
buf = ctx.buffer_from_data(large)
buf.copy_from_device(buf, position=1, nbytes=len(large) - 1)
buf.to_pybytes() == large[:1] + large[:-1]
