# A slice's parent is what it was cut from, as a generic buffer; a whole buffer has none.
# shows: cuda_buffer, parent
#   CudaBuffer.parent: the buffer that a slice was cut from; none for a whole buffer
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
print(buf.parent)
part = buf.slice(2, 5)
type(part.parent)
(part.parent.size, part.parent.address == buf.address)
(part.parent.is_cpu, part.parent.is_mutable)
inner = part.slice(1)
(inner.parent.size, inner.parent.address - buf.address)
(inner.parent.parent.size, inner.parent.parent.address == buf.address)
print(inner.parent.parent.parent)
(buf[3:].parent.size, buf[3:].parent.address == buf.address)
cuda.CudaBuffer.from_buffer(inner.parent).to_pybytes()
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 4)).parent.address == buf.address
print(cuda.CudaBuffer.from_buffer(buf).parent, ctx.new_buffer(0).parent)
print(ctx.foreign_buffer(buf.address, 4, base=buf).parent)

# It is enough to keep the memory.
parent = part.parent
del buf, part, inner
ctx.bytes_allocated
cuda.CudaBuffer.from_buffer(parent).to_pybytes()
