# A view of device memory that somebody else owns.
# shows: pyarrow_cuda
#   Context.foreign_buffer: a CudaBuffer over memory that somebody else owns; the same memory,
#     mutable
#   Context.foreign_buffer(address): where the memory begins: device memory or pinned host memory
#   Context.foreign_buffer(size): the size in bytes; size 0 at address 0 makes a new empty buffer
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
owner = ctx.buffer_from_data(b"0123456789")
view = ctx.foreign_buffer(address=owner.address + 2, size=5, base=owner)
type(view)
(view.address - owner.address, view.size, view.is_mutable, view.is_cpu)
view.to_pybytes()
# It is the same memory.
view.copy_from_host(b"XY", position=1)
owner.to_pybytes()
view.context.handle == ctx.handle
ctx.foreign_buffer(owner.address, 10).to_pybytes()
# Page-locked host memory can be viewed as well.
pinned = cuda.new_host_buffer(4)
pa.BufferReader(b"pin!").readinto(pinned)
mapped = ctx.foreign_buffer(pinned.address, pinned.size, base=pinned)
(mapped.is_cpu, mapped.to_pybytes())
mapped.copy_from_host(b"PIN")
pinned.to_pybytes()
# No bytes at no address: a new buffer of no bytes.
nothing = ctx.foreign_buffer(0, 0)
(nothing.size, nothing.address)
ctx.foreign_buffer(None, 0).size
