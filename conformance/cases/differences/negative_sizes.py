# Negative sizes and lengths are refused.
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
ctx.new_buffer(-1)
ctx.foreign_buffer(buf.address, -1)
cuda.new_host_buffer(-1)
buf.slice(0, -1)
cuda.BufferReader(buf).read_buffer(-5)
cuda.BufferWriter(buf).buffer_size = -1
# An empty buffer has no other part than itself.
empty = ctx.new_buffer(0)
(empty.slice().size, empty.slice(0, 5).size)
empty.slice(1)
empty.slice(1, 1)
