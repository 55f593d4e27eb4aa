# CuPy allocates in a context of this package, and the package from CuPy's pool.
# needs: gpu, cupy
# shows: additions, Memory of other allocators
#   pyarrow_cuda_compat.cupy.allocator: allocates the memory of CuPy arrays in the context of its
#     current device
#   pyarrow_cuda_compat.cupy.allocator(size): the number of bytes
import cupy
from pyarrow import cuda

from pyarrow_cuda_compat import set_allocator
from pyarrow_cuda_compat.cupy import allocator

ctx = cuda.Context(0)
before = ctx.bytes_allocated
with cupy.cuda.using_allocator(allocator):
    array = cupy.arange(100, dtype=cupy.int32)
ctx.bytes_allocated - before
int(array.sum())
del array
ctx.bytes_allocated - before
pointer = allocator(size=16)
pointer.mem.size
pool = cupy.get_default_memory_pool()
set_allocator(pool.malloc)
used = pool.used_bytes()
buf = ctx.buffer_from_data(b"in CuPy's pool")
pool.used_bytes() - used
buf.to_pybytes()
del buf
pool.used_bytes() - used
set_allocator(None)
