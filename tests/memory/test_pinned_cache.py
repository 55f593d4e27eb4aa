"""Released pinned memory: who gets it and when, how much is kept, and how it is reported."""

import ctypes
import gc
import threading

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import (
    DeviceArray,
    Stream,
    empty_cache,
    empty_pinned_cache,
    memory,
    memory_stats,
    pinned_memory_stats,
    pygpu,
    set_pinned_cache_limit,
)
from support.work import NON_BLOCKING, Queue

MIB = 1 << 20
# A buffer of this size has a driver allocation of its own.
LARGE = 32 * MIB
DATA = bytes(range(1, 251)) * 20


@pytest.fixture(autouse=True)
def cached(ctx):
    """Each test begins with an empty cache of the default size."""
    before = pinned_memory_stats()["cache_limit"]
    gc.collect()
    ctx.synchronize()
    empty_pinned_cache()
    set_pinned_cache_limit(512 * MIB)
    yield
    empty_pinned_cache()
    set_pinned_cache_limit(before)


@pytest.fixture
def changes():
    """What the counters have changed by since the test began."""
    before = pinned_memory_stats()
    return lambda: {name: now - before[name] for name, now in pinned_memory_stats().items()}


def test_the_statistics_agree_with_each_other(cuda, changes):
    pinned, small = cuda.new_host_buffer(33 * MIB), cuda.new_host_buffer(100)
    now = changes()
    assert (now["allocated_bytes"], now["reserved_bytes"]) == (33 * MIB + 100, 36 * MIB)
    assert (now["cache_misses"], now["driver_allocations"]) == (2, 2)
    del pinned
    now = changes()
    assert (now["allocated_bytes"], now["cached_bytes"], now["cached_blocks"]) == (100, 34 * MIB, 1)
    again = cuda.new_host_buffer(34 * MIB)
    now = changes()
    assert (now["cache_hits"], now["cached_bytes"], now["driver_allocations"]) == (1, 0, 2)
    del small, again
    assert empty_pinned_cache() == 36 * MIB
    now = changes()
    assert (now["reserved_bytes"], now["cached_bytes"], now["driver_frees"]) == (0, 0, 2)
    assert pinned_memory_stats()["peak_allocated_bytes"] >= 34 * MIB + 100
    assert empty_pinned_cache() == 0
    assert {type(value) for value in pinned_memory_stats().values()} == {int}


def test_the_caches_are_apart(cuda, ctx):
    ctx.new_buffer(MIB)
    cuda.new_host_buffer(LARGE)
    empty_cache(ctx)
    assert pinned_memory_stats()["cached_bytes"] == LARGE
    ctx.new_buffer(MIB)
    empty_pinned_cache()
    assert memory_stats(ctx)["cached_bytes"] > 0


def test_what_is_no_limit():
    before = pinned_memory_stats()["cache_limit"]
    with pytest.raises(ValueError, match="negative"):
        set_pinned_cache_limit(-1)
    for limit in (1.5, "1", None, 2**63):
        with pytest.raises((TypeError, OverflowError)):
            set_pinned_cache_limit(limit)
    assert pinned_memory_stats()["cache_limit"] == before
    set_pinned_cache_limit(2**63 - 1)


def test_a_loop_asks_the_driver_once(cuda, changes):
    for index in range(100):
        cuda.new_host_buffer(LARGE - index)
    assert (changes()["driver_allocations"], changes()["cache_hits"]) == (1, 99)


@pytest.mark.simulator
def test_a_hit_asks_the_driver_little(cuda, contexts, driver, current):
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


def test_each_devices_context_reuses_its_own(cuda, ctx, other_ctx, changes):
    addresses = [cuda.new_host_buffer(LARGE, device=number).address for number in (0, 1)]
    again = [cuda.new_host_buffer(LARGE, device=number) for number in (1, 0)]
    assert [buffer.address for buffer in again] == addresses[::-1]
    assert changes()["cache_hits"] == 2


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


def test_released_memory_is_refused(cuda, ctx):
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


@pytest.mark.alone
def test_the_limit(cuda, changes):
    set_pinned_cache_limit(2 * LARGE)
    buffers = [cuda.new_host_buffer(LARGE) for _ in range(4)]
    while buffers:
        buffers.pop()
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (2 * LARGE, 2)
    cuda.new_host_buffer(3 * LARGE)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (2 * LARGE, 3)
    set_pinned_cache_limit(0)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (0, 5)
    cuda.new_host_buffer(LARGE)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (0, 6)


def test_threads_share_the_cache(cuda):
    failures = []

    def work(number):
        held = []
        for turn in range(300):
            array = _array(cuda.new_host_buffer(turn * (7 + number) % 5000 + 1))
            array[:] = number
            held.append(array)
            if len(held) > 5:
                failures.extend(1 for array in [held.pop(turn % 5)] if (array != number).any())
            if turn % 100 == number:
                empty_pinned_cache()

    before = pinned_memory_stats()["allocated_bytes"]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert pinned_memory_stats()["allocated_bytes"] == before
