# New device memory: of the size that was asked for, mutable, and counted until its release.
# shows: pyarrow_cuda
#   Context.bytes_allocated: the number of allocated bytes: up with each allocation, down with the
#     release; cannot be set
#   Context.new_buffer: too much raises an OutOfMemoryError with the driver's message
#   Context.new_buffer: a CudaBuffer of new memory, mutable, in this context
#   Context.new_buffer(nbytes): the size in bytes; with 0, the buffer has address 0
#   Context: buffers and arrays made from it work after the object is gone
# shows: additions, Device buffers
#   OutOfMemoryError: an OSError and a MemoryError: the driver's message first, then how much was
#     requested, and how much there is
import gc
import re

import pyarrow as pa
from pyarrow import cuda

# The bytes that were asked for count from allocation to release.
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
ctx.bytes_allocated - before, cuda.Context(0).bytes_allocated - before

# Memory that the device does not have is an OSError and a MemoryError, the driver's words first.
before = ctx.bytes_allocated
try:
    ctx.new_buffer(2**60)
except OSError as error:
    words, figures = str(error).split("; ")
    type(error), isinstance(error, MemoryError)
words
# How much was asked for, and how much there is.
re.sub(r"\d+ of \d+ bytes are", "N of N bytes are", figures)
# Nothing has changed by that.
ctx.bytes_allocated == before, ctx.buffer_from_data(b"fine").to_pybytes()

# New device memory: of the size that was asked for, mutable, and the context's.
buf = ctx.new_buffer(nbytes=1000)
type(buf)
buf
buf.size, len(buf), buf.is_mutable, buf.is_cpu, buf.parent, buf.address % 256
buf.context.handle == ctx.handle, buf.context.device_number, buf.copy_from_host(b"\x07" * 1000)
set(buf.to_pybytes())
# Two buffers have memory of their own.
other = ctx.new_buffer(1000)
abs(other.address - buf.address) >= 1000, other.copy_from_host(bytes(1000))
set(buf.to_pybytes())
# The memory outlives the context object, and a buffer of no bytes has no memory.
alone = cuda.Context().buffer_from_data(b"alone")
alone.to_pybytes()
empty = ctx.new_buffer(0)
empty.size, empty.address, empty.to_pybytes(), empty
for wrong in ("10", None, 1.5):
    try:
        ctx.new_buffer(wrong)
    except TypeError:
        print("TypeError")

# Objects that a context has made still work when the context object is gone.
number = ctx.handle
buf = ctx.buffer_from_data(b"0123456789")
reader, writer = cuda.BufferReader(buf), cuda.BufferWriter(buf)
manager = ctx.memory_manager
pinned = cuda.new_host_buffer(4)
del ctx
_ = gc.collect()
(buf.to_pybytes(), buf.context.handle == number)
writer.writeat(2, b"XY")
reader.read(), buf.copy_from_device(buf.context.buffer_from_data(b"ab"))
pa.array([1, 2]).copy_to(manager).copy_to(pa.default_cpu_memory_manager()).to_pylist()
buf.context.buffer_from_object(pinned).size
