"""Released memory of devices, and pinned memory: who gets it and when, and how it is reported.

`crates/context/tests/pools/` has what takes no Python.
"""

import ctypes
import gc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.cuda import new_host_buffer

from pyarrow_cuda_compat import (
    DeviceArray,
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
from support.interfaces import Interface
from support.samples import CPU
from support.streams import pinned_of, pointer
from support.work import NON_BLOCKING, Queue

MIB = 1 << 20
# A buffer of this size has a driver allocation of its own, in both caches.
LARGE = 32 * MIB
DATA = bytes(range(1, 251)) * 20


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
def changes(ctx, empty_caches):
    """What the device's counters have changed by since the test began."""
    before = memory_stats(ctx)

    def changes():
        return {name: value - before[name] for name, value in memory_stats(ctx).items()}

    return changes


def test_the_caches_are_apart(cuda, ctx):
    ctx.new_buffer(MIB)
    cuda.new_host_buffer(LARGE)
    empty_cache(ctx)
    assert pinned_memory_stats()["cached_bytes"] == LARGE
    ctx.new_buffer(MIB)
    empty_pinned_cache()
    assert memory_stats(ctx)["cached_bytes"] > 0


def test_messages_reuse_memory(cuda, ctx, changes):
    batch = pa.record_batch({"x": range(1000)})
    for _ in range(10):
        message = cuda.serialize_record_batch(batch, ctx)
        assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)
    assert changes()["cache_hits"] >= 8  # the last message goes when the next one is there


@pytest.mark.simulator
def test_a_hit_of_device_memory_asks_the_driver_little(ctx, calls, current):
    """Which context is current, whether it is still the same one, and the thread's capture mode.

    The mode is exchanged and restored, which asks no device: it spares captures of other threads.
    """
    ctx.new_buffer(64 * MIB)
    names = (b"*", b"cuCtxGetCurrent", b"cuCtxGetId", b"cuThreadExchangeStreamCaptureMode")
    _, made = calls(lambda: ctx.new_buffer(64 * MIB).size, *names)
    assert made == [4, 1, 1, 2]


@pytest.mark.simulator
def test_a_hit_of_pinned_memory_asks_the_driver_little(cuda, contexts, calls, current):
    """One event in each context."""
    for _ in range(2):  # the second one makes the events
        cuda.new_host_buffer(64 * MIB)
    names = (b"cuCtxRecordEvent", b"cuEventQuery", b"cuEventCreate", b"cuMemHostRegister_v2")
    _, made = calls(lambda: cuda.new_host_buffer(64 * MIB).size, *names)
    assert made[:2] >= [len(contexts)] * 2
    assert made[2:] == [0, 0]


def test_each_devices_context_reuses_its_own(cuda, other_ctx):
    before = pinned_memory_stats()["cache_hits"]
    addresses = [cuda.new_host_buffer(LARGE, device=number).address for number in (0, 1)]
    again = [cuda.new_host_buffer(LARGE, device=number) for number in (1, 0)]
    assert [buffer.address for buffer in again] == addresses[::-1]
    assert pinned_memory_stats()["cache_hits"] - before == 2


def copy_by_others(driver, stream, target, address):
    """A copy on a stream that this package does not know, and that retains nothing."""
    arguments = ctypes.c_uint64(target.address), ctypes.c_void_p(address), len(DATA), stream
    driver.call("cuMemcpyHtoDAsync_v2", *arguments)


def overwrite(make):
    """Writes to memory that `make` returns, which may be what was released before."""
    gc.collect()
    others = [make() for _ in range(3)]
    for other in others:
        np.frombuffer(other, np.uint8)[:] = 0x55


def array_of(buffer):
    return np.frombuffer(buffer, np.uint8)


#: Each way to an address of a host buffer.
WAYS = {
    "address": lambda ctx, buffer: buffer.address,
    "slice": lambda ctx, buffer: buffer.slice(0).address,
    "numpy": lambda ctx, buffer: array_of(buffer).ctypes.data,
    "array interface": lambda ctx, buffer: array_of(buffer).__array_interface__["data"][0],
    "memoryview": lambda ctx, buffer: ctypes.addressof(ctypes.c_char.from_buffer(buffer)),
    "dlpack": lambda ctx, buffer: np.from_dlpack(array_of(buffer)).ctypes.data,
    "arrow": lambda ctx, buffer: (
        pa.Array.from_buffers(pa.uint8(), buffer.size, [None, buffer]).buffers()[1].address
    ),
    "foreign_buffer": lambda ctx, buffer: ctx.foreign_buffer(buffer.address, 1).address,
    "buffer_from_object": lambda ctx, buffer: ctx.buffer_from_object(buffer).address,
    "get_device_address": lambda ctx, buffer: ctx.get_device_address(buffer.address),
    "array over it": lambda ctx, buffer: DeviceArray(
        ctx.buffer_from_object(buffer), np.uint8
    ).__cuda_array_interface__["data"][0],
}


#: Functions that make pinned memory.
MAKERS = {
    "new_host_buffer": lambda: new_host_buffer(len(DATA)),
    "pinned_array": lambda: memory.pinned_array(len(DATA), np.uint8),
    "PagelockedAllocator": lambda: pygpu.PagelockedAllocator(len(DATA) // 2, np.int16).get(),
}


@pytest.mark.parametrize(
    ("maker", "way"),
    [
        *(("new_host_buffer", way) for way in WAYS),
        ("pinned_array", "numpy"),
        ("PagelockedAllocator", "numpy"),
    ],
)
def test_memory_that_others_copy_from_waits(ctx, driver, make_stream, maker, way):
    make = MAKERS[maker]
    side, target, pinned = make_stream(NON_BLOCKING), ctx.new_buffer(len(DATA)), make()
    array_of(pinned)[:] = array_of(DATA)
    address = WAYS[way](ctx, pinned)
    side.sleep()
    copy_by_others(driver, side.stream, target, address)
    del pinned
    overwrite(make)
    ctx.synchronize()
    assert target.to_pybytes() == DATA


def test_work_of_another_device_is_waited_for(cuda, ctx, other_ctx, driver, current):
    pinned, target = pinned_of(cuda, DATA), other_ctx.new_buffer(len(DATA))
    driver.set_current(other_ctx.handle)
    stream = Stream(other_ctx, non_blocking=True)
    queue = Queue(driver, pointer(stream))
    queue.sleep()
    copy_by_others(driver, queue.stream, target, pinned.address)
    driver.set_current(ctx.handle)
    del pinned
    overwrite(lambda: cuda.new_host_buffer(len(DATA)))
    stream.synchronize()
    assert target.to_pybytes() == DATA


def test_a_view_without_an_owner_waits_for_its_copies(cuda, ctx, begin):
    """The queued copy retains the view, which retains nothing."""
    pinned, target = pinned_of(cuda, DATA), ctx.new_buffer(len(DATA))
    view = ctx.foreign_buffer(pinned.address, pinned.size)
    target.copy_from_device(view, stream=begin())
    del pinned, view
    overwrite(lambda: cuda.new_host_buffer(len(DATA)))
    ctx.synchronize()
    assert target.to_pybytes() == DATA


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
            lambda at=address: ctx.buffer_from_object(Interface(at)),
            lambda at=address: DeviceArray(Interface(at)),
            view.to_pybytes,
            lambda view=view: view.copy_from_host(b"x"),
            lambda view=view: ctx.new_buffer(10).copy_from_device(view),
            lambda view=view: view.equals(ctx.new_buffer(10)),
        ):
            with pytest.raises(OSError, match=r"^Cuda error 1 in function 'cuPointerGetAttribute'"):
                use()


def test_released_device_memory_is_refused(ctx):
    buffer = ctx.buffer_from_data(b"0123456789")
    address, part = buffer.address, buffer.slice(2, 4)
    array = pa.Array.from_buffers(pa.uint8(), 3, [None, buffer])
    del buffer
    # Slices and arrays keep their memory.
    assert ctx.foreign_buffer(address, 10).to_pybytes() == b"0123456789"
    del part
    assert array.copy_to(pa.default_cpu_memory_manager()).to_pylist() == list(b"012")
    del array
    for use in (lambda: ctx.foreign_buffer(address, 10), lambda: ctx.get_device_address(address)):
        with pytest.raises(OSError, match="Cuda error 1 "):
            use()


def test_contexts_of_others_keep_nothing(cuda, own_context):
    """They may be destroyed at any time."""
    theirs = cuda.Context(0, own_context)
    set_cache_limit(20 * MIB, theirs)
    theirs.new_buffer(2 * MIB)
    assert memory_stats(theirs)["cached_blocks"] == 0


def test_one_byte_beyond_a_host_buffer_is_refused(cuda, ctx):
    """Though the driver has pinned more than was asked for."""
    for size in (1000, 5 * MIB - 1):
        pinned = cuda.new_host_buffer(size)
        assert ctx.foreign_buffer(pinned.address, size, pinned).size == size
        with pytest.raises(ValueError, match=f"ends after {size} bytes, not {size + 1}"):
            ctx.foreign_buffer(pinned.address, size + 1, pinned)


@pytest.mark.leaks
@pytest.mark.parametrize("size", [100, 33 * MIB - 5])
def test_exports_hold_nothing_of_earlier_buffers(ctx, driver, current, size, changes):
    """Another process reaches the whole block, whatever part of it the buffer is."""
    whole = MIB if size == 100 else 34 * MIB
    ctx.new_buffer(whole).copy_from_host(b"\x07" * whole)
    buffer = ctx.new_buffer(size)
    assert changes()["cache_hits"] == 1
    buffer.copy_from_host(b"\x01" * size)
    buffer.export_for_ipc()
    content = driver.read(buffer.address, whole)
    assert content[:size] == b"\x01" * size
    assert content[size:] == bytes(whole - size)
    # Nor does anybody get that memory again.
    address = buffer.address
    del buffer
    assert not address <= ctx.new_buffer(size).address < address + whole


@pytest.mark.alone
def test_what_was_never_needed_at_once_goes_back(ctx, changes):
    """Programs that need ever larger buffers do not keep all the smaller ones."""
    for size in (100, 150, 200, 250, 300):
        ctx.new_buffer(size * MIB)
    assert changes()["reserved_bytes"] <= 400 * MIB
    assert changes()["out_of_memory_retries"] == 0
