# Released memory is kept and handed out again; what is in use and what is kept is counted.
# shows: additions, Released memory
#   Context.new_buffer: memory of released buffers of about the same size is reused
#   memory_stats: memory in use and cached memory, in bytes, and how often cached memory was reused
#   memory_stats(context): the context; the first device's by default
#   empty_cache: returns all cached memory to the driver
#   empty_cache(context): the context; the first device's by default
#   reset_peak_memory_stats: the peaks begin again
#   reset_peak_memory_stats(context): the context, or a device's number; the first device's by
#     default
#   mem_get_info: the free and the total memory of a device, for all processes and libraries
#   mem_get_info(device): the device's number, or a context; the first device by default
from pyarrow import cuda

from pyarrow_cuda_compat import (
    empty_cache,
    mem_get_info,
    memory_stats,
    reset_peak_memory_stats,
    set_cache_limit,
)

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
# A buffer of about that size gets the same memory.
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
# A number is that device's.
memory_stats(0) == memory_stats(ctx)
empty_cache("0")
try:
    memory_stats(-1)
except ValueError as error:
    print(str(error).partition(":")[0])

# The peaks begin again; the rest stays.
before = memory_stats(ctx)
reset_peak_memory_stats(context=ctx)
changes("allocated_bytes", "reserved_bytes", "cache_hits")
now = memory_stats(ctx)
now["peak_allocated_bytes"] == now["allocated_bytes"]
now["peak_reserved_bytes"] == now["reserved_bytes"]
# Free memory takes other processes and libraries into account.
free, total = mem_get_info(device=0)
0 < free < total
mem_get_info(ctx)[1] == total
mem_get_info("cuda:0")
