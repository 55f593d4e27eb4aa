# Equality is that of the bytes, wherever they lie.
# shows: additions, Device buffers
#   CudaBuffer.equals: equality of the bytes, on the device and between device and host
# shows: additions, Page-locked memory
#   HostBuffer.equals: equality with device memory
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
buf.equals(ctx.buffer_from_data(b"0123456789"))
buf.equals(ctx.buffer_from_data(b"012345678x"))
buf.equals(ctx.buffer_from_data(b"012345678"))
buf.equals(pa.py_buffer(b"0123456789"))
buf.equals(pa.py_buffer(b"x123456789"))
buf.slice(3, 4).equals(ctx.buffer_from_data(b"3456"))
# From the host's side as well.
pinned = cuda.new_host_buffer(10)
pa.BufferReader(b"0123456789").readinto(pinned)
(pinned.equals(buf), pinned.slice(1).equals(buf), buf.equals(pinned))
(buf == ctx.buffer_from_data(b"0123456789"), buf != ctx.buffer_from_data(b"0123456780"))
ctx.new_buffer(0).equals(pa.py_buffer(b""))
