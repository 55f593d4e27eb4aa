# New device memory: of the size that was asked for, mutable, and the context's.
# shows: pyarrow_cuda
#   Context.new_buffer: a CudaBuffer of new memory, mutable, in this context
#   Context.new_buffer(nbytes): the size in bytes; with 0, the buffer has address 0
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.new_buffer(nbytes=1000)
type(buf)
buf
(buf.size, len(buf), buf.is_mutable, buf.is_cpu, buf.parent)
buf.address % 256
buf.context.handle == ctx.handle
buf.context.device_number
buf.copy_from_host(b"\x07" * 1000)
set(buf.to_pybytes())
# Two buffers have memory of their own.
other = ctx.new_buffer(1000)
abs(other.address - buf.address) >= 1000
other.copy_from_host(bytes(1000))
set(buf.to_pybytes())
# The memory outlives the context object, and a buffer of no bytes has no memory.
alone = cuda.Context().buffer_from_data(b"alone")
alone.to_pybytes()
empty = ctx.new_buffer(0)
(empty.size, empty.address, empty.to_pybytes())
empty
for wrong in ("10", None, 1.5):
    try:
        ctx.new_buffer(wrong)
    except TypeError:
        print("TypeError")
