# Released memory is kept and handed out again; what is in use and what is kept is counted.
from pyarrow import cuda

from pyarrow_cuda_compat import empty_cache, memory_stats, set_cache_limit

ctx = cuda.Context(0)
MIB = 1 << 20
set_cache_limit(64 * MIB, context=ctx)
before = memory_stats(context=ctx)
list(before)


def changes(*names):
    """By how much the counters have changed."""
    now = memory_stats(ctx)
    return {name: now[name] - before[name] for name in names}


# 3 MiB are asked for, and the driver gives 4: it reserves whole blocks of 2.
buf = ctx.new_buffer(3 * MIB)
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cache_misses", "driver_allocations")
memory_stats(ctx)["allocated_bytes"] == ctx.bytes_allocated
del buf
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cached_blocks", "driver_frees")
# What is of about that size gets the same memory.
buf = ctx.new_buffer(4 * MIB)
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cache_hits", "driver_allocations")
del buf
buf = ctx.new_buffer(8 * MIB)
changes("reserved_bytes", "cached_bytes", "peak_allocated_bytes", "peak_reserved_bytes")
# All that is kept goes back to the driver; the result is how many bytes it was.
empty_cache(context=ctx) // MIB
changes("reserved_bytes", "cached_bytes", "cached_blocks", "driver_frees")
empty_cache(ctx)
# Without a context it is the first device's.
memory_stats() == memory_stats(ctx)
empty_cache()
memory_stats(0)
empty_cache("0")
