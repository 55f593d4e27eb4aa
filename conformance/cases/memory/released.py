# Released memory is nobody's, although it is kept: a bare address of it is refused.
# shows: additions, Released memory
#   Context.foreign_buffer: a bare address of released memory is refused
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats, set_cache_limit

ctx = cuda.Context(0)
set_cache_limit(64 << 20, ctx)
buf = ctx.buffer_from_data(b"0123456789")
address = buf.address
ctx.foreign_buffer(address, 10).to_pybytes()
del buf
memory_stats(ctx)["cached_blocks"]
ctx.foreign_buffer(address, 10)
ctx.get_device_address(address)
# Slices and arrays keep their memory, as ever.
buf = ctx.buffer_from_data(b"0123456789")
part = buf.slice(2, 4)
array = pa.Array.from_buffers(pa.uint8(), 3, [None, buf])
del buf
memory_stats(ctx)["cached_blocks"]
part.to_pybytes()
del part
array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
