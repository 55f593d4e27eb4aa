# A slice is a part of the same memory.
# shows: cuda_buffer, slice
#   CudaBuffer.slice: a slice of the device buffer
#   CudaBuffer.slice(offset): where the slice begins, in bytes
#   CudaBuffer.slice(length): the size of the slice in bytes
#   CudaBuffer.slice(length): default None: up to the end of the buffer
#   CudaBuffer.slice(length): at most the available bytes, if more are requested
#   CudaBuffer.slice: returns a device buffer over the same memory, without a copy
#   CudaBuffer.slice: offsets outside the buffer are refused
# shows: cuda_buffer, parent
#   CudaBuffer.parent: the buffer that a slice was cut from; none for a whole buffer
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
part = buf.slice(2, 5)
type(part), part.size, part.to_pybytes(), buf.slice(offset=2, length=5).to_pybytes()
# By default from the start, and to the end.
buf.slice().to_pybytes(), buf.slice(4).to_pybytes(), buf.slice(length=4).to_pybytes()
buf.slice(offset=9).to_pybytes(), buf.slice(4, None).to_pybytes(), buf.slice(4, 0).size
# No more than there is.
(buf.slice(7, 3).size, buf.slice(7, 4).size, buf.slice(7, 100).size, buf.slice(0, 11).size)
buf.slice(7, 100).to_pybytes(), buf.slice(7, 2**63 - 1).to_pybytes()
# Nothing is copied: the addresses agree, and a write through either shows in the other.
part.address - buf.address, ctx.bytes_allocated, part.copy_from_host(b"abc"), buf.to_pybytes()
buf.copy_from_host(b"X", position=6), part.to_pybytes()
# Slices of slices.
inner = part.slice(1, 3)
inner.address - buf.address, inner.to_pybytes(), inner.slice(2, 5).to_pybytes()
part.slice(1).slice(1).slice(1).to_pybytes()
# They keep the memory, all of it.
del buf, part
(ctx.bytes_allocated, inner.to_pybytes())
del inner
ctx.bytes_allocated

# Arguments that a slice refuses.
buf = ctx.buffer_from_data(b"0123456789")
buf.slice(-1)
buf.slice(10)
buf.slice(11)
buf.slice(0, -1)
buf.slice(2, 3).slice(3)
buf.slice("2")
buf.slice(2**63)
buf.to_pybytes()

# A slice's parent is what it was cut from, as a generic buffer; a whole buffer has none.
print(buf.parent)
part = buf.slice(2, 5)
type(part.parent), part.parent.size, part.parent.address == buf.address
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
ctx.bytes_allocated, cuda.CudaBuffer.from_buffer(parent).to_pybytes()
