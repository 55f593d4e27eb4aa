# Device buffers can be written to, unless they view what their owner calls read-only.
# shows: cuda_buffer, is_mutable
#   CudaBuffer.is_mutable: whether the buffer can be written to
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.is_mutable
[part.is_mutable for part in (ctx.new_buffer(3), ctx.new_buffer(0), buf.slice(2), buf[1:4])]
buf.slice(4, 2).copy_from_host(b"ab")
buf.to_pybytes()
ctx.foreign_buffer(buf.address, 10, base=buf).is_mutable
cuda.CudaBuffer.from_buffer(buf).is_mutable

# pyarrow's own slices are read-only, and what is made of them.
generic = pa.Buffer.slice(buf, 3)
generic.is_mutable
frozen = cuda.CudaBuffer.from_buffer(generic)
(frozen.is_mutable, frozen.slice(1).is_mutable, frozen[2:].is_mutable)
frozen.copy_from_host(b"x")
frozen.copy_from_device(buf.slice(0, 1))
cuda.BufferWriter(frozen)

# Reading goes on, and no byte has changed.
(frozen.to_pybytes(), buf.to_pybytes())
buf.is_mutable = False
