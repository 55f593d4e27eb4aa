# Views of objects that the device can reach: no bytes are copied.
# shows: pyarrow_cuda
#   Context.buffer_from_object: a CudaBuffer over the object's memory, without a copy
#   Context.buffer_from_object(obj): a CudaBuffer, a HostBuffer or a generic buffer over device
#     memory
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
same = ctx.buffer_from_object(obj=buf)
(same is buf, same.address == buf.address, same.size)
# A generic buffer over device memory.
generic = pa.Array.from_buffers(pa.uint8(), 10, [None, buf]).buffers()[1]
type(generic)
view = ctx.buffer_from_object(generic.slice(3, 4))
(type(view), view.address - buf.address, view.to_pybytes())
# Page-locked host memory.
pinned = cuda.new_host_buffer(4)
mapped = ctx.buffer_from_object(pinned)
(type(mapped), mapped.address == pinned.address, mapped.size, mapped.is_mutable)
mapped.copy_from_host(b"both")
pinned.to_pybytes()
del pinned
mapped.to_pybytes()
ctx.buffer_from_object(cuda.new_host_buffer(0)).size
