# Nothing is kept where that is switched off.
# environment: PYARROW_CUDA_CACHE=off
# shows: additions, Released memory
#   PYARROW_CUDA_CACHE: off disables the cache
from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats

ctx = cuda.Context(0)
for _ in range(3):
    buf = ctx.new_buffer(4 << 20)
    del buf

stats = memory_stats(ctx)
(stats["cache_limit"], stats["cached_bytes"], stats["driver_allocations"], stats["driver_frees"])
