# Arguments that a slice refuses.
# shows: cuda_buffer, slice
#   CudaBuffer.slice: offsets outside the buffer are refused
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.slice(-1)
buf.slice(10)
buf.slice(10, 0)
buf.slice(11)
buf.slice(2**62)
buf.slice(0, -1)
buf.slice(3, -3)
buf.slice(2, 3).slice(3)
buf.slice("2")
buf.slice(2.0)
buf.slice(None)
buf.slice(0, "3")
buf.slice(2**63)
buf.to_pybytes()
