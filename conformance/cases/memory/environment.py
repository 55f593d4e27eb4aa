# How much released memory is kept can be set from outside, for all contexts.
# environment: PYARROW_CUDA_CACHE=6M
# shows: additions, Released memory
#   PYARROW_CUDA_CACHE: the most bytes that each context caches
from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats, set_cache_limit

ctx = cuda.Context(0)
memory_stats(ctx)["cache_limit"]
one, other = ctx.new_buffer(4 << 20), ctx.new_buffer(4 << 20)
del one, other
memory_stats(ctx)["cached_bytes"]
# The program has the last word.
set_cache_limit(0, ctx)
stats = memory_stats(ctx)
(stats["cache_limit"], stats["cached_bytes"])
