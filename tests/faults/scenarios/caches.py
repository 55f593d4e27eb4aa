"""The caches of released memory, on devices and of pinned memory, and their limits."""

from pyarrow import cuda

import pyarrow_cuda_compat as compat

from . import scenario

MIB = 1 << 20


@scenario(releases={"allocations": 1})
def of_device_memory():
    ctx = cuda.Context()
    limit = compat.memory_stats(ctx)["cache_limit"]
    kept = [ctx.new_buffer(3 * MIB) for _ in range(3)]
    addresses = {buffer.address for buffer in kept}
    assert len(addresses) == 3
    del kept
    try:
        compat.set_cache_limit(4 * MIB, ctx)
        first, second = ctx.new_buffer(3 * MIB), ctx.new_buffer(100)
        first.fill(1)
        del first, second
        compat.empty_cache(ctx)
    finally:
        compat.set_cache_limit(limit, ctx)
    assert compat.memory_stats(ctx)["cached_blocks"] == 0


@scenario(releases={"host_allocations": 1})
def of_pinned_memory():
    limit = compat.pinned_memory_stats()["cache_limit"]
    kept = [cuda.new_host_buffer(3 * MIB) for _ in range(3)]
    assert len({buffer.address for buffer in kept}) == 3
    del kept
    try:
        compat.set_pinned_cache_limit(4 * MIB)
        first, second = cuda.new_host_buffer(3 * MIB), cuda.new_host_buffer(100)
        del first, second
        compat.empty_pinned_cache()
    finally:
        compat.set_pinned_cache_limit(limit)
    assert compat.pinned_memory_stats()["cached_blocks"] == 0


@scenario(releases={"allocations": 1})
def of_exposed_memory():
    """Addresses that others may use: events after all streams tell when memory may be reused."""
    ctx = cuda.Context()
    stream = compat.Stream(ctx)
    for size in (100, 100, 5000, 100):
        buffer = ctx.new_buffer(size)
        assert buffer.address
        buffer.fill(2, stream=stream)
        del buffer
    ctx.synchronize()
    compat.empty_cache(ctx)
    assert compat.memory_stats(ctx)["cached_blocks"] == 0


@scenario(
    others=r"memory that the driver does not know \(Cuda error {code} in function",
    releases={"allocations": 1},
)
def of_another_allocator():
    ctx = cuda.Context()
    block = ctx.new_buffer(4 * MIB)
    free = list(range(block.address, block.address + block.size, 4096))
    given = {}

    def allocate(size):
        address = free.pop()  # a hook may allocate as well
        given[address] = size
        return address

    compat.set_allocator((allocate, lambda address, size: given.pop(address)))
    try:
        buffer = ctx.buffer_from_data(b"lent")
        address = buffer.address
        assert given[address] == 4
        assert buffer.slice(1, 2).to_pybytes() == b"en"
        del buffer
        assert address not in given
    finally:
        compat.set_allocator(None)
