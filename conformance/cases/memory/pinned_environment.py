# How much released pinned memory is kept can be set from outside.
# environment: PYARROW_CUDA_PINNED_CACHE=6M
# shows: additions, Released memory
#   PYARROW_CUDA_PINNED_CACHE: the most bytes of pinned memory that the process caches
from pyarrow import cuda

from pyarrow_cuda_compat import pinned_memory_stats, set_pinned_cache_limit

pinned_memory_stats()["cache_limit"]
one, other = cuda.new_host_buffer(4 << 20), cuda.new_host_buffer(4 << 20)
del one, other
pinned_memory_stats()["cached_bytes"]
# The program has the last word.
set_pinned_cache_limit(0)
stats = pinned_memory_stats()
(stats["cache_limit"], stats["cached_bytes"])
