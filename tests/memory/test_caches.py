"""Released memory of devices, and pinned memory: who gets it and when, and how it is reported.

`crates/context/tests/pools/` has what takes no Python.
"""

import ctypes
import gc
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import (
    DeviceArray,
    Event,
    Stream,
    empty_cache,
    empty_pinned_cache,
    memory,
    memory_stats,
    pinned_memory_stats,
    pygpu,
    set_cache_limit,
    set_pinned_cache_limit,
)
from support.samples import CPU
from support.work import NON_BLOCKING, Queue

MIB = 1 << 20
# A buffer of this size has a driver allocation of its own, in both caches.
LARGE = 32 * MIB
DATA = bytes(range(1, 251)) * 20


@dataclass
class Cache:
    """One of the two caches, of the first device."""

    allocate: Any
    stats: Any
    empty: Any
    set_limit: Any

    def __post_init__(self):
        self.before = self.stats()

    def changes(self):
        """What the counters have changed by since the test began."""
        return {name: value - self.before[name] for name, value in self.stats().items()}


@pytest.fixture(autouse=True)
def empty_caches(ctx):
    """Each test begins with empty caches of the default size."""
    before = memory_stats(ctx)["cache_limit"], pinned_memory_stats()["cache_limit"]
    gc.collect()
    ctx.synchronize()
    empty_cache(ctx), empty_pinned_cache()
    set_cache_limit(512 * MIB, ctx)
    set_pinned_cache_limit(512 * MIB)
    yield
    empty_cache(ctx), empty_pinned_cache()
    set_cache_limit(before[0], ctx)
    set_pinned_cache_limit(before[1])


@pytest.fixture
def device(ctx, empty_caches):
    return Cache(
        ctx.new_buffer,
        lambda: memory_stats(ctx),
        lambda: empty_cache(ctx),
        lambda limit: set_cache_limit(limit, ctx),
    )


@pytest.fixture
def pinned(cuda, empty_caches):
    return Cache(
        cuda.new_host_buffer, pinned_memory_stats, empty_pinned_cache, set_pinned_cache_limit
    )


@pytest.fixture(params=["device", "pinned"])
def cache(request):
    return request.getfixturevalue(request.param)


def test_the_statistics_agree_with_each_other(cache):
    buffer, small = cache.allocate(33 * MIB), cache.allocate(100)
    now = cache.changes()
    assert (now["allocated_bytes"], now["reserved_bytes"]) == (33 * MIB + 100, 36 * MIB)
    assert (now["cache_misses"], now["driver_allocations"]) == (2, 2)
    del buffer
    now = cache.changes()
    assert (now["allocated_bytes"], now["cached_bytes"], now["cached_blocks"]) == (100, 34 * MIB, 1)
    assert (now["reserved_bytes"], now["driver_frees"]) == (36 * MIB, 0)
    again = cache.allocate(34 * MIB)
    now = cache.changes()
    assert (now["cache_hits"], now["cached_bytes"], now["driver_allocations"]) == (1, 0, 2)
    del small, again
    assert cache.empty() == 36 * MIB
    now = cache.changes()
    assert (now["reserved_bytes"], now["cached_bytes"], now["driver_frees"]) == (0, 0, 2)
    assert cache.stats()["peak_allocated_bytes"] >= 34 * MIB + 100
    assert cache.stats()["peak_reserved_bytes"] >= 36 * MIB
    assert cache.empty() == 0
    assert {type(value) for value in cache.stats().values()} == {int}


def test_without_a_context_it_is_device_0s(ctx, other_ctx):
    assert memory_stats()["allocated_bytes"] == ctx.bytes_allocated
    assert memory_stats() == memory_stats(ctx)
    ours = memory_stats(ctx)
    empty_cache(other_ctx)
    other_ctx.new_buffer(5 * MIB)
    assert memory_stats(other_ctx)["cached_bytes"] == 6 * MIB
    assert memory_stats() == ours
    set_cache_limit(7 * MIB)
    assert memory_stats(ctx)["cache_limit"] == 7 * MIB != memory_stats(other_ctx)["cache_limit"]
    assert (empty_cache(), empty_cache(other_ctx)) == (0, 6 * MIB)


def test_the_caches_are_apart(cuda, ctx):
    ctx.new_buffer(MIB)
    cuda.new_host_buffer(LARGE)
    empty_cache(ctx)
    assert pinned_memory_stats()["cached_bytes"] == LARGE
    ctx.new_buffer(MIB)
    empty_pinned_cache()
    assert memory_stats(ctx)["cached_bytes"] > 0


@pytest.mark.parametrize("context", [0.0, "cuda:0", pytest.param(object(), id="object")], ids=repr)
def test_what_is_no_context(context):
    for function in (memory_stats, empty_cache, lambda context: set_cache_limit(1, context)):
        with pytest.raises(TypeError, match="Context"):
            function(context)


def test_what_is_no_limit(cache):
    before = cache.stats()["cache_limit"]
    with pytest.raises(ValueError, match="negative"):
        cache.set_limit(-1)
    for limit in (1.5, "1", None, 2**63):
        with pytest.raises((TypeError, OverflowError)):
            cache.set_limit(limit)
    assert cache.stats()["cache_limit"] == before
    cache.set_limit(2**63 - 1)


def test_a_loop_asks_the_driver_once(cache):
    for index in range(100):
        cache.allocate(LARGE - index)
    assert (cache.changes()["driver_allocations"], cache.changes()["cache_hits"]) == (1, 99)


def test_messages_reuse_memory(cuda, ctx, device):
    batch = pa.record_batch({"x": range(1000)})
    for _ in range(10):
        message = cuda.serialize_record_batch(batch, ctx)
        assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)
    assert device.changes()["cache_hits"] >= 8  # the last message goes when the next one is there


@pytest.mark.simulator
def test_a_hit_of_device_memory_asks_the_driver_little(ctx, driver, current):
    """Which context is current, and whether it is still the same one."""
    ctx.new_buffer(64 * MIB)
    count = driver.library.cuda_sim_call_count
    names = (b"*", b"cuCtxGetCurrent", b"cuCtxGetId")
    before = [count(name) for name in names]
    for _ in range(10):
        ctx.new_buffer(64 * MIB)
    made = [count(name) - was for name, was in zip(names, before, strict=True)]
    assert made == [20, 10, 10]


@pytest.mark.simulator
def test_a_hit_of_pinned_memory_asks_the_driver_little(cuda, contexts, driver, current):
    """One event in each context."""
    for _ in range(2):  # the second one makes the events
        cuda.new_host_buffer(64 * MIB)
    count = driver.library.cuda_sim_call_count
    names = (b"cuCtxRecordEvent", b"cuEventQuery", b"cuEventCreate", b"cuMemHostAlloc")
    before = [count(name) for name in names]
    for _ in range(10):
        cuda.new_host_buffer(64 * MIB)
    made = [count(name) - was for name, was in zip(names, before, strict=True)]
    assert made[:2] >= [10 * len(contexts)] * 2
    assert made[2:] == [0, 0]


def test_each_devices_context_reuses_its_own(cuda, ctx, other_ctx, pinned):
    addresses = [cuda.new_host_buffer(LARGE, device=number).address for number in (0, 1)]
    again = [cuda.new_host_buffer(LARGE, device=number) for number in (1, 0)]
    assert [buffer.address for buffer in again] == addresses[::-1]
    assert pinned.changes()["cache_hits"] == 2


def test_memory_that_nobody_else_has_seen_serves_at_once(cuda, ctx, default_stream, device):
    """Whatever the device has to do: all work of this package was complete before."""
    default_stream.sleep()
    other = ctx.new_buffer(8 * MIB)
    for number in range(20):
        buffer = ctx.new_buffer(8 * MIB)
        buffer.slice(1, 100)
        cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buffer, number))
        del buffer
    assert (device.changes()["driver_allocations"], device.changes()["cache_hits"]) == (2, 19)
    assert not default_stream.is_idle()
    ctx.synchronize()
    del other


@pytest.mark.parametrize("size", [1, 1000, 70_000, MIB, 5 * MIB, 40 * MIB])
def test_data_survives_the_others(ctx, size):
    """Memory that is in use is nobody else's, whatever is allocated and released around it."""
    alive = {}
    for step in range(60 if size < 10 * MIB else 12):
        mark = step % 251
        buffer = ctx.new_buffer(max(1, size - step % 7))
        buffer.copy_from_host(np.full(buffer.size, mark, np.uint8))
        alive[step] = (mark, buffer)
        if step % 3:
            mark, old = alive.pop(min(alive))
            content = np.frombuffer(old.copy_to_host(), np.uint8)
            assert (content == mark).all()
    for mark, old in alive.values():
        assert (np.frombuffer(old.copy_to_host(), np.uint8) == mark).all()


def test_memory_under_work_of_the_default_stream_waits(ctx, default_stream, device):
    buffer = ctx.new_buffer(4 * MIB)
    assert buffer.address
    default_stream.sleep()
    del buffer
    others = [ctx.new_buffer(4 * MIB) for _ in range(3)]
    assert not default_stream.is_idle()
    assert (device.changes()["cache_hits"], device.changes()["cached_blocks"]) == (0, 1)
    ctx.synchronize()
    others.append(ctx.new_buffer(4 * MIB))
    assert (device.changes()["cache_hits"], device.changes()["cached_blocks"]) == (1, 0)


def test_what_came_before_work_that_goes_on_need_not_wait(ctx, default_stream, device):
    """A note of what the context had to do is enough, though it is never idle."""
    complete = default_stream.hold()
    assert ctx.new_buffer(4 * MIB).address
    held = [ctx.new_buffer(4 * MIB)]  # takes note, and is a miss
    assert device.changes()["cache_hits"] == 0
    event = Event(ctx)
    event.record()
    default_stream.hold()
    complete()
    event.synchronize()
    for _ in range(100):  # a device may complete one event sooner than another
        held.append(ctx.new_buffer(4 * MIB))
        if device.changes()["cache_hits"]:
            break
        time.sleep(0.001)
    assert device.changes()["cache_hits"] == 1
    assert not default_stream.is_idle()


def test_buffers_are_cached_whatever_was_done_with_them(cuda, ctx, device):
    buffer = ctx.buffer_from_data(bytes(4 * MIB))
    assert buffer.slice(1, 2)[0] == 0
    assert buffer.equals(ctx.buffer_from_data(buffer))
    cuda.BufferReader(buffer).read(10)
    cuda.BufferWriter(buffer).write(b"abc")
    array = pa.Array.from_buffers(pa.int8(), 8, [None, buffer])
    array.copy_to(CPU)
    assert str(array)
    assert buffer.__cuda_array_interface__["data"][0] == buffer.address
    array.__dlpack__()
    array.__arrow_c_device_array__()
    del buffer, array
    gc.collect()
    assert (device.changes()["cached_blocks"], device.changes()["driver_frees"]) == (2, 0)


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
def test_memory_under_work_of_any_stream_waits(ctx, make_stream, device, flags):
    """Also where other libraries have made it, and this package does not know it."""
    side = make_stream(flags)
    for size in (100, 4 * MIB):
        buffer = ctx.new_buffer(size)
        side.sleep()
        side.fill(buffer, 7)
        del buffer
        others = [ctx.new_buffer(size) for _ in range(4)]
        assert device.changes()["cache_hits"] == 0
        ctx.synchronize()
        # Nothing else has written to them.
        for other in others:
            other.copy_from_host(b"\x01" * size)
        assert all(other.to_pybytes() == b"\x01" * size for other in others)
        del others
        empty_cache(ctx)


def _array(buffer):
    return np.frombuffer(buffer, np.uint8)


def _of_arrow(buffer):
    array = pa.Array.from_buffers(pa.uint8(), buffer.size, [None, buffer])
    return array.buffers()[1].address


#: Each way to an address of a host buffer.
WAYS = {
    "address": lambda ctx, buffer: buffer.address,
    "slice": lambda ctx, buffer: buffer.slice(0).address,
    "numpy": lambda ctx, buffer: _array(buffer).ctypes.data,
    "array interface": lambda ctx, buffer: _array(buffer).__array_interface__["data"][0],
    "memoryview": lambda ctx, buffer: ctypes.addressof(ctypes.c_char.from_buffer(buffer)),
    "dlpack": lambda ctx, buffer: np.from_dlpack(_array(buffer)).ctypes.data,
    "arrow": lambda ctx, buffer: _of_arrow(buffer),
    "foreign_buffer": lambda ctx, buffer: ctx.foreign_buffer(buffer.address, 1).address,
    "buffer_from_object": lambda ctx, buffer: ctx.buffer_from_object(buffer).address,
    "get_device_address": lambda ctx, buffer: ctx.get_device_address(buffer.address),
    "array over it": lambda ctx, buffer: DeviceArray(
        ctx.buffer_from_object(buffer), np.uint8
    ).__cuda_array_interface__["data"][0],
}


@pytest.mark.parametrize("way", WAYS)
def test_memory_that_others_copy_from_waits(cuda, ctx, driver, make_stream, way):
    """A copy on a stream that this package does not know, and that retains nothing."""
    side = make_stream(NON_BLOCKING)
    target, pinned = ctx.new_buffer(len(DATA)), cuda.new_host_buffer(len(DATA))
    _array(pinned)[:] = np.frombuffer(DATA, np.uint8)
    address = WAYS[way](ctx, pinned)
    side.sleep()
    arguments = ctypes.c_uint64(target.address), ctypes.c_void_p(address), len(DATA), side.stream
    driver.call("cuMemcpyHtoDAsync_v2", *arguments)
    del pinned
    gc.collect()
    others = [cuda.new_host_buffer(len(DATA)) for _ in range(3)]
    for other in others:
        _array(other)[:] = 0x55
    ctx.synchronize()
    assert target.to_pybytes() == DATA


#: Functions that return arrays of pinned memory, beside `new_host_buffer`.
MAKERS = {
    "pinned_array": lambda: memory.pinned_array(len(DATA), np.uint8),
    "PagelockedAllocator": lambda: pygpu.PagelockedAllocator(len(DATA) // 2, np.int16).get(),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_arrays_in_pinned_memory_wait_too(ctx, driver, make_stream, make):
    side, target, array = make_stream(NON_BLOCKING), ctx.new_buffer(len(DATA)), make()
    array.view(np.uint8)[:] = np.frombuffer(DATA, np.uint8)
    address = ctypes.c_void_p(array.ctypes.data)
    side.sleep()
    arguments = ctypes.c_uint64(target.address), address, len(DATA), side.stream
    driver.call("cuMemcpyHtoDAsync_v2", *arguments)
    del array
    gc.collect()
    others = [make() for _ in range(3)]
    for other in others:
        other.view(np.uint8)[:] = 0x55
    ctx.synchronize()
    assert target.to_pybytes() == DATA


def test_work_of_another_device_is_waited_for(cuda, ctx, other_ctx, driver, current):
    pinned, target = cuda.new_host_buffer(len(DATA)), other_ctx.new_buffer(len(DATA))
    _array(pinned)[:] = np.frombuffer(DATA, np.uint8)
    driver.set_current(other_ctx.handle)
    stream = Stream(other_ctx, non_blocking=True)
    queue = Queue(driver, ctypes.c_void_p(stream.handle))
    queue.sleep()
    address = ctypes.c_void_p(pinned.address)
    arguments = ctypes.c_uint64(target.address), address, len(DATA), queue.stream
    driver.call("cuMemcpyHtoDAsync_v2", *arguments)
    driver.set_current(ctx.handle)
    del pinned
    others = [cuda.new_host_buffer(len(DATA)) for _ in range(3)]
    for other in others:
        _array(other)[:] = 0x55
    stream.synchronize()
    assert target.to_pybytes() == DATA


def test_a_view_without_an_owner_waits_for_its_copies(cuda, ctx, begin):
    """The queued copy retains the view, which retains nothing."""
    pinned, target = cuda.new_host_buffer(len(DATA)), ctx.new_buffer(len(DATA))
    _array(pinned)[:] = np.frombuffer(DATA, np.uint8)
    view = ctx.foreign_buffer(pinned.address, pinned.size)
    target.copy_from_device(view, stream=begin())
    del pinned, view
    others = [cuda.new_host_buffer(len(DATA)) for _ in range(3)]
    for other in others:
        _array(other)[:] = 0x55
    ctx.synchronize()
    assert target.to_pybytes() == DATA


class Interface:
    """What another library says of memory."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def test_released_device_memory_is_refused(cuda, ctx):
    other = ctx.new_buffer(10)
    for size in (100, 4 * MIB):
        memory = ctx.new_buffer(size)
        view = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(memory, 0))
        assert view.size == size
        address = memory.address
        del view, memory
        assert memory_stats(ctx)["cached_blocks"]
        for use in (
            lambda address=address: ctx.foreign_buffer(address, 10),
            lambda address=address: ctx.get_device_address(address),
        ):
            with pytest.raises(OSError, match=r"^Cuda error 1 in function 'cuPointerGetAttribute'"):
                use()
    assert other.size == 10


def test_released_pinned_memory_is_refused(cuda, ctx):
    for size in (100, 4 * MIB):
        pinned = cuda.new_host_buffer(size)
        address, view = pinned.address, ctx.foreign_buffer(pinned.address, 10)
        part = address + size - 10
        del pinned
        assert pinned_memory_stats()["cached_blocks"]
        for use in (
            lambda at=address: ctx.foreign_buffer(at, 10),
            lambda at=part: ctx.foreign_buffer(at, 10),
            lambda at=address: ctx.get_device_address(at),
            lambda at=address: ctx.buffer_from_object(Interface(at, 10)),
            lambda at=address: DeviceArray(Interface(at, 10)),
            view.to_pybytes,
            lambda view=view: view.copy_from_host(b"x"),
            lambda view=view: ctx.new_buffer(10).copy_from_device(view),
            lambda view=view: view.equals(ctx.new_buffer(10)),
        ):
            with pytest.raises(OSError, match=r"^Cuda error 1 in function 'cuPointerGetAttribute'"):
                use()


def test_one_byte_beyond_a_host_buffer_is_refused(cuda, ctx):
    """Though the driver has pinned more than was asked for."""
    for size in (1000, 5 * MIB - 1):
        pinned = cuda.new_host_buffer(size)
        assert ctx.foreign_buffer(pinned.address, size, pinned).size == size
        with pytest.raises(ValueError, match=f"ends after {size} bytes, not {size + 1}"):
            ctx.foreign_buffer(pinned.address, size + 1, pinned)


def test_views_keep_their_memory(cuda):
    array = _array(cuda.new_host_buffer(MIB))[5:]
    array[:] = 7
    others = [_array(cuda.new_host_buffer(MIB)) for _ in range(3)]
    for other in others:
        other[:] = 1
    assert (array == 7).all()


@pytest.mark.leaks
def test_exported_memory_leaves_for_good(ctx, device):
    buffer = ctx.new_buffer(4 * MIB)
    buffer.export_for_ipc()
    del buffer
    assert empty_cache(ctx) == 0
    now = device.changes()
    assert (now["allocated_bytes"], now["reserved_bytes"]) == (4 * MIB, 4 * MIB)
    assert (now["cached_blocks"], now["driver_frees"]) == (0, 0)


@pytest.mark.leaks
@pytest.mark.parametrize("size", [100, 33 * MIB - 5])
def test_exports_hold_nothing_of_earlier_buffers(ctx, driver, current, size, device):
    """Another process reaches the whole block, whatever part of it the buffer is."""
    whole = MIB if size == 100 else 34 * MIB
    ctx.new_buffer(whole).copy_from_host(b"\x07" * whole)
    buffer = ctx.new_buffer(size)
    assert device.changes()["cache_hits"] == 1
    buffer.copy_from_host(b"\x01" * size)
    buffer.export_for_ipc()
    content = driver.read(buffer.address, whole)
    assert content[:size] == b"\x01" * size
    assert content[size:] == bytes(whole - size)


@pytest.mark.alone  # memory goes back while the device is idle
def test_the_limit(cache):
    def changed():
        return cache.changes()["cached_bytes"], cache.changes()["driver_frees"]

    cache.set_limit(2 * LARGE)
    buffers = [cache.allocate(LARGE) for _ in range(6)]
    while buffers:
        buffers.pop()
    assert changed() == (2 * LARGE, 4)
    cache.allocate(3 * LARGE)  # with what is cached, less than was needed at the peak
    assert changed() == (2 * LARGE, 5)
    cache.set_limit(0)
    assert changed() == (0, 7)
    cache.allocate(LARGE)
    assert changed() == (0, 8)


@pytest.mark.alone
def test_cached_memory_makes_room(ctx, device):
    set_cache_limit(2**50, ctx)
    empty_cache(ctx)  # what earlier tests left in it is free, too
    free = free_memory(ctx)
    both = [ctx.new_buffer(free // 8 * 3), ctx.new_buffer(free // 2)]  # so much is kept from now on
    while both:
        del both[0]
    set_cache_limit(free // 2 + 2 * MIB, ctx)  # evicts the first
    set_cache_limit(2**50, ctx)
    assert device.changes()["cached_bytes"] >= free // 2
    # More than the driver could take back from its own pools, which does not count as free.
    buffer = ctx.new_buffer(free_memory(ctx) + free // 32)
    assert device.changes()["out_of_memory_retries"] == 1
    assert device.changes()["cached_bytes"] == 0
    del buffer


@pytest.mark.alone
def test_what_was_never_needed_at_once_goes_back(ctx, device):
    """Programs that need ever larger buffers do not keep all the smaller ones."""
    for size in (100, 150, 200, 250, 300):
        ctx.new_buffer(size * MIB)
    assert device.changes()["reserved_bytes"] <= 400 * MIB
    assert device.changes()["out_of_memory_retries"] == 0


def free_memory(ctx):
    return pyarrow_cuda_compat.mem_get_info(ctx)[0]


def test_a_borrowed_context_keeps_nothing(cuda, driver):
    handle = driver.create_context()
    try:
        theirs = cuda.Context(0, handle)
        theirs.new_buffer(4 * MIB)
        stats = memory_stats(theirs)
        assert (stats["cached_blocks"], stats["cache_limit"], stats["driver_frees"]) == (0, 0, 1)
        set_cache_limit(MIB, theirs)
        theirs.new_buffer(100)
        assert memory_stats(theirs)["driver_frees"] == 2
        assert empty_cache(theirs) == 0
    finally:
        driver.destroy_context(handle)
