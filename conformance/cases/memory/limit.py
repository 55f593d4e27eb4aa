# How much released memory is kept is set for each context; the oldest goes first.
# shows: additions, Released memory
#   set_cache_limit: how much is cached; the memory released longest ago is evicted first
#   set_cache_limit(nbytes): the most bytes to cache
#   set_cache_limit(context): the context; the cache does not serve contexts of other libraries
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import empty_cache, memory_stats, set_cache_limit

ctx = cuda.Context(0)
MIB = 1 << 20


def kept(context=ctx):
    stats = memory_stats(context)
    return stats["cached_bytes"] // MIB, stats["cache_limit"] // MIB


set_cache_limit(nbytes=20 * MIB, context=ctx)
kept()
oldest, middle, latest = (ctx.new_buffer(size * MIB) for size in (4, 10, 8))
del oldest, middle
kept()
del latest
kept()
# The block of 4 MiB is the one that is gone.
before = memory_stats(ctx)["cache_hits"]
held = [ctx.new_buffer(10 * MIB), ctx.new_buffer(8 * MIB), ctx.new_buffer(4 * MIB)]
memory_stats(ctx)["cache_hits"] - before
held.clear()
# A block larger than the limit is not cached, and displaces nothing.
_ = empty_cache(ctx)
small, large = ctx.new_buffer(2 * MIB), ctx.new_buffer(22 * MIB)
del small
del large
kept()
_ = empty_cache(ctx)
# A smaller limit holds at once.
small = ctx.new_buffer(6 * MIB)
del small
kept()
set_cache_limit(4 * MIB)
kept()
set_cache_limit(0, ctx)
buf = ctx.new_buffer(2 * MIB)
del buf
kept()
# Another library's context keeps nothing, whatever is set: it may be destroyed at any time.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
handle = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(handle), 0, 0)
theirs = cuda.Context(0, handle.value)
set_cache_limit(20 * MIB, theirs)
buf = theirs.new_buffer(2 * MIB)
del buf
kept(theirs)
set_cache_limit(-1, ctx)
set_cache_limit(1.5, ctx)
set_cache_limit(1, None, None)
