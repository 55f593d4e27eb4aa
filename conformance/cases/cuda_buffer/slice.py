# A slice is a part of the same memory.
# shows: cuda_buffer, slice
#   CudaBuffer.slice: a slice of the device buffer
#   CudaBuffer.slice(offset): where the slice begins, in bytes
#   CudaBuffer.slice(length): the size of the slice in bytes
#   CudaBuffer.slice(length): default None: up to the end of the buffer
#   CudaBuffer.slice(length): at most the available bytes, if more are requested
#   CudaBuffer.slice: returns a device buffer over the same memory, without a copy
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
part = buf.slice(2, 5)
type(part)
(part.size, part.to_pybytes())
buf.slice(offset=2, length=5).to_pybytes()

# By default from the start, and to the end.
buf.slice().to_pybytes()
buf.slice(4).to_pybytes()
buf.slice(length=4).to_pybytes()
buf.slice(offset=9).to_pybytes()
buf.slice(4, None).to_pybytes()
buf.slice(4, 0).size

# No more than there is.
(buf.slice(7, 3).size, buf.slice(7, 4).size, buf.slice(7, 100).size, buf.slice(0, 11).size)
buf.slice(7, 100).to_pybytes()
buf.slice(7, 2**63 - 1).to_pybytes()

# Nothing is copied: the addresses agree, and a write through either shows in the other.
part.address - buf.address
ctx.bytes_allocated
part.copy_from_host(b"abc")
buf.to_pybytes()
buf.copy_from_host(b"X", position=6)
part.to_pybytes()

# Slices of slices.
inner = part.slice(1, 3)
(inner.address - buf.address, inner.to_pybytes())
inner.slice(2, 5).to_pybytes()
part.slice(1).slice(1).slice(1).to_pybytes()

# They keep the memory, all of it.
del buf, part
(ctx.bytes_allocated, inner.to_pybytes())
del inner
ctx.bytes_allocated
