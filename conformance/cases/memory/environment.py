# How much released memory is kept can be set from outside: for all contexts, and pinned.
# environment: PYARROW_CUDA_CACHE=6M
# environment: PYARROW_CUDA_PINNED_CACHE=6M
# shows: additions, Released memory
#   PYARROW_CUDA_CACHE: the most bytes that each context caches
#   PYARROW_CUDA_PINNED_CACHE: the most bytes of pinned memory that the process caches
from pyarrow import cuda

from pyarrow_cuda_compat import (
    memory_stats,
    pinned_memory_stats,
    set_cache_limit,
    set_pinned_cache_limit,
)

ctx = cuda.Context(0)
memory_stats(ctx)["cache_limit"]
one, other = ctx.new_buffer(4 << 20), ctx.new_buffer(4 << 20)
del one, other
memory_stats(ctx)["cached_bytes"]
# The program has the last word.
set_cache_limit(0, ctx)
stats = memory_stats(ctx)
(stats["cache_limit"], stats["cached_bytes"])
# Likewise for pinned memory.
one, other = cuda.new_host_buffer(4 << 20), cuda.new_host_buffer(4 << 20)
del one, other
stats = pinned_memory_stats()
(stats["cache_limit"], stats["cached_bytes"])
set_pinned_cache_limit(0)
stats = pinned_memory_stats()
(stats["cache_limit"], stats["cached_bytes"])
