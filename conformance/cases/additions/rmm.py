# RMM allocates in a context of this package, and the package from RMM.
# needs: gpu, rmm
# shows: additions, Memory of other allocators
#   pyarrow_cuda_compat.rmm.memory_resource: a memory resource of RMM's that allocates in a context
#   pyarrow_cuda_compat.rmm.memory_resource(context): the context
import rmm
from pyarrow import cuda

import pyarrow_cuda_compat.rmm
from pyarrow_cuda_compat import set_allocator

ctx = cuda.Context(0)
resource = pyarrow_cuda_compat.rmm.memory_resource(context=ctx)
before = ctx.bytes_allocated
memory = rmm.DeviceBuffer(size=16, mr=resource)
ctx.bytes_allocated - before >= 16
view = ctx.foreign_buffer(memory.ptr, memory.size, base=memory)
view.copy_from_host(b"in our memory")
view.slice(0, 13).to_pybytes()
del memory, view
ctx.bytes_allocated - before
set_allocator(rmm.mr.CudaMemoryResource())
buf = ctx.buffer_from_data(b"in RMM's memory")
buf.to_pybytes()
ctx.bytes_allocated - before
set_allocator(None)
