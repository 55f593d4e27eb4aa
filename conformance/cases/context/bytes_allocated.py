# The bytes that were asked for count from allocation to release.
# shows: pyarrow_cuda
#   Context.bytes_allocated: the number of allocated bytes: up with each allocation, down with the
#     release; cannot be set
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
before = ctx.bytes_allocated
buf = ctx.new_buffer(1000)
ctx.bytes_allocated - before
other = ctx.buffer_from_data(b"0123456789")
ctx.bytes_allocated - before
# Views of memory that is counted already, and buffers of no bytes, do not count.
part = buf.slice(100)
view = ctx.foreign_buffer(other.address, 10, base=other)
empty = ctx.new_buffer(0)
pinned = cuda.new_host_buffer(64)
ctx.bytes_allocated - before
# A slice keeps the memory, and so the count, until it goes too.
del buf
ctx.bytes_allocated - before
del part
ctx.bytes_allocated - before
del other
ctx.bytes_allocated - before
del view
ctx.bytes_allocated == before
ctx.bytes_allocated = 0
# Each object for the device tells the same number, and Arrow's own allocations count.
array = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
ctx.bytes_allocated - before
cuda.Context(0).bytes_allocated - before
