"""RMM itself: in our memory, and its memory for our buffers."""

import gc

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import set_allocator
from support.samples import CPU

rmm = pytest.importorskip("rmm")

pytestmark = pytest.mark.foreign
MIB = 1 << 20
TABLE = pa.table({"x": [1, None, 3], "s": ["a", "bc", None]})


@pytest.fixture
def ours(ctx):
    from pyarrow_cuda_compat.rmm import memory_resource

    before = ctx.bytes_allocated
    yield memory_resource(ctx)
    gc.collect()
    assert ctx.bytes_allocated == before


def test_it_allocates_in_our_memory(ctx, ours):
    before = ctx.bytes_allocated
    memory = rmm.DeviceBuffer(size=1000, mr=ours)
    assert ctx.bytes_allocated - before == 1000
    view = ctx.foreign_buffer(memory.ptr, memory.size, base=memory)
    del memory
    view.copy_from_host(b"through both")
    assert view.slice(0, 12).to_pybytes() == b"through both"
    del view
    assert ctx.bytes_allocated == before


def test_which_device_is_meant(contexts):
    from pyarrow_cuda_compat.rmm import memory_resource

    for number, context in enumerate(contexts):
        before = context.bytes_allocated
        memory = rmm.DeviceBuffer(size=10, mr=memory_resource(number))
        assert context.bytes_allocated - before == 10
        del memory
    with pytest.raises(TypeError, match="expected Context, device number"):
        memory_resource(0.0)


def test_what_is_too_large_is_a_memory_error(ours):
    with pytest.raises(MemoryError, match="1125899906842624 bytes were requested"):
        rmm.DeviceBuffer(size=1 << 50, mr=ours)
    assert rmm.DeviceBuffer(size=10, mr=ours).size == 10


def test_its_pools_and_adaptors_lie_on_ours(ctx, ours):
    before = ctx.bytes_allocated
    pool = rmm.mr.PoolMemoryResource(ours, MIB, 4 * MIB)
    counted = rmm.mr.StatisticsResourceAdaptor(pool)
    memory = [rmm.DeviceBuffer(size=1000, mr=counted) for _ in range(10)]
    assert ctx.bytes_allocated - before == MIB
    assert counted.allocation_counts.current_count == 10
    del memory, counted, pool


@pytest.mark.hardware
def test_it_is_the_current_resource(ctx, ours):
    theirs = rmm.mr.get_current_device_resource()
    rmm.mr.set_current_device_resource(ours)
    try:
        before = ctx.bytes_allocated
        memory = rmm.DeviceBuffer(size=64)
        assert ctx.bytes_allocated - before == 64
        del memory
    finally:
        rmm.mr.set_current_device_resource(theirs)


# RMM's own resources need NVIDIA's driver; its adaptors over ours do not.
RESOURCES = {
    "ours again": lambda ours: ours,
    "statistics": rmm.mr.StatisticsResourceAdaptor,
    "a pool over ours": lambda ours: rmm.mr.PoolMemoryResource(ours, MIB, 64 * MIB),
    "cudaMalloc": lambda ours: rmm.mr.CudaMemoryResource(),
    "cudaMallocAsync": lambda ours: rmm.mr.CudaAsyncMemoryResource(),
    "a pool": lambda ours: rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), MIB, 64 * MIB),
    "managed": lambda ours: rmm.mr.ManagedMemoryResource(),
}
SIMULATED = ("ours again", "statistics", "a pool over ours")
CHOSEN = [
    pytest.param(name, marks=[] if name in SIMULATED else pytest.mark.hardware)
    for name in RESOURCES
]


@pytest.mark.parametrize("name", CHOSEN)
def test_our_buffers_are_in_its_memory(ctx, ours, name):
    resource = RESOURCES[name](ours)
    counted = rmm.mr.StatisticsResourceAdaptor(resource)
    set_allocator(counted)
    try:
        buffer = ctx.buffer_from_data(b"in RMM's memory")
        there = TABLE.copy_to(ctx.memory_manager)
        assert counted.allocation_counts.current_bytes >= buffer.size + TABLE.nbytes
        assert buffer.to_pybytes() == b"in RMM's memory"
        assert there.copy_to(CPU).equals(TABLE)
        with pytest.raises(MemoryError):
            ctx.new_buffer(1 << 50)
        del buffer, there
        gc.collect()
        assert counted.allocation_counts.current_bytes == 0
    finally:
        set_allocator(None)


@pytest.mark.hardware
@pytest.mark.leaks
def test_what_cannot_be_exported_is_refused(ctx):
    for resource in (rmm.mr.CudaAsyncMemoryResource(), rmm.mr.ManagedMemoryResource()):
        set_allocator(resource)
        try:
            buffer = ctx.buffer_from_data(b"not for others")
        finally:
            set_allocator(None)
        with pytest.raises(pa.ArrowInvalid, match="not a whole allocation of cudaMalloc"):
            buffer.export_for_ipc()
        del buffer
