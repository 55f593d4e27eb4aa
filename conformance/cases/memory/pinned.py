# Released pinned memory is kept and handed out again; an address of it is refused meanwhile.
# shows: additions, Released memory
#   new_host_buffer: reuses pinned memory of released host buffers, once no work in flight could
#     touch it
#   Context.foreign_buffer: a bare address of released pinned memory is refused
#   pinned_memory_stats: pinned memory in use and cached, in bytes, and how often cached memory was
#     reused
#   empty_pinned_cache: returns all cached pinned memory to the driver
#   set_pinned_cache_limit: how much pinned memory is cached; the memory released longest ago is
#     evicted first
#   set_pinned_cache_limit(nbytes): the most bytes to cache
#   reset_peak_pinned_memory_stats: the peaks of pinned memory begin again
from pyarrow import cuda

from pyarrow_cuda_compat import (
    empty_pinned_cache,
    pinned_memory_stats,
    reset_peak_pinned_memory_stats,
    set_pinned_cache_limit,
)

ctx = cuda.Context(0)
MIB = 1 << 20
set_pinned_cache_limit(nbytes=64 * MIB)
before = pinned_memory_stats()
list(before)


def changes(*names):
    """By how much the counters have changed."""
    now = pinned_memory_stats()
    return {name: now[name] - before[name] for name in names}


# Sizes are rounded up by an eighth at most, so that memory of about the size can serve.
pinned = cuda.new_host_buffer(17 * MIB)
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cache_misses", "driver_allocations")
address = pinned.address
ctx.foreign_buffer(address, 10).size
del pinned
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cached_blocks", "driver_frees")
ctx.foreign_buffer(address, 10)
ctx.get_device_address(address)
pinned = cuda.new_host_buffer(18 * MIB)
pinned.address == address
changes("allocated_bytes", "reserved_bytes", "cached_bytes", "cache_hits", "driver_allocations")
# Slices and arrays keep their memory, as ever.
part = pinned.slice(0, 4)
del pinned
changes("cached_blocks")
del part
changes("cached_blocks", "peak_allocated_bytes", "peak_reserved_bytes")
# The peaks begin again.
reset_peak_pinned_memory_stats()
stats = pinned_memory_stats()
stats["peak_allocated_bytes"] == stats["allocated_bytes"]
stats["peak_reserved_bytes"] == stats["reserved_bytes"]
# All that is kept goes back to the driver; the result is how many bytes it was.
empty_pinned_cache() // MIB
changes("reserved_bytes", "cached_bytes", "cached_blocks", "driver_frees")
empty_pinned_cache()
# The oldest goes first.
set_pinned_cache_limit(72 * MIB)
oldest, middle, latest = (cuda.new_host_buffer(size * MIB) for size in (24, 36, 30))
del oldest, middle
pinned_memory_stats()["cached_bytes"] // MIB
del latest
pinned_memory_stats()["cached_bytes"] // MIB
set_pinned_cache_limit(30 * MIB)
stats = pinned_memory_stats()
(stats["cached_bytes"] // MIB, stats["cache_limit"] // MIB, stats["out_of_memory_retries"])
set_pinned_cache_limit(0)
pinned_memory_stats()["cached_bytes"]
set_pinned_cache_limit(-1)
set_pinned_cache_limit(1.5)
pinned_memory_stats(ctx)
empty_pinned_cache(ctx)
