"""Released device memory: who gets it and when, how much is kept, and how it is reported."""

import gc
import threading

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import Event, empty_cache, memory_stats, set_cache_limit
from support.samples import CPU
from support.work import NON_BLOCKING

MIB = 1 << 20


@pytest.fixture(autouse=True)
def cached(ctx):
    """Each test begins with an empty cache of the default size."""
    before = memory_stats(ctx)["cache_limit"]
    gc.collect()
    ctx.synchronize()
    empty_cache(ctx)
    set_cache_limit(512 * MIB, ctx)
    yield
    empty_cache(ctx)
    set_cache_limit(before, ctx)


@pytest.fixture
def changes(ctx):
    """What the counters have changed by since the test began."""
    before = memory_stats(ctx)
    return lambda: {name: value - before[name] for name, value in memory_stats(ctx).items()}


def test_the_statistics_agree_with_each_other(ctx, changes):
    buffer = ctx.new_buffer(3 * MIB)
    small = ctx.new_buffer(100)
    assert memory_stats(ctx)["allocated_bytes"] == ctx.bytes_allocated
    now = changes()
    assert (now["allocated_bytes"], now["reserved_bytes"]) == (3 * MIB + 100, 6 * MIB)
    assert (now["cache_misses"], now["driver_allocations"]) == (2, 2)
    del buffer
    now = changes()
    assert (now["allocated_bytes"], now["cached_bytes"], now["cached_blocks"]) == (100, 4 * MIB, 1)
    assert (now["reserved_bytes"], now["driver_frees"]) == (6 * MIB, 0)
    again = ctx.new_buffer(4 * MIB)
    now = changes()
    assert (now["cache_hits"], now["cached_bytes"], now["driver_allocations"]) == (1, 0, 2)
    del small, again
    assert empty_cache(ctx) == 6 * MIB
    now = changes()
    assert (now["reserved_bytes"], now["cached_bytes"], now["driver_frees"]) == (0, 0, 2)
    assert memory_stats(ctx)["peak_allocated_bytes"] >= 4 * MIB + 100
    assert memory_stats(ctx)["peak_reserved_bytes"] >= 6 * MIB
    assert empty_cache(ctx) == 0
    assert {type(value) for value in memory_stats(ctx).values()} == {int}


def test_without_a_context_it_is_device_0s(ctx, other_ctx):
    assert memory_stats() == memory_stats(ctx)
    ours = memory_stats(ctx)
    empty_cache(other_ctx)
    other_ctx.new_buffer(5 * MIB)
    assert memory_stats(other_ctx)["cached_bytes"] == 6 * MIB
    assert memory_stats() == ours
    set_cache_limit(7 * MIB)
    assert memory_stats(ctx)["cache_limit"] == 7 * MIB != memory_stats(other_ctx)["cache_limit"]
    assert (empty_cache(), empty_cache(other_ctx)) == (0, 6 * MIB)


@pytest.mark.parametrize("context", [0.0, "cuda:0", pytest.param(object(), id="object")], ids=repr)
def test_what_is_no_context(context):
    for function in (memory_stats, empty_cache, lambda context: set_cache_limit(1, context)):
        with pytest.raises(TypeError, match="Context"):
            function(context)


def test_what_is_no_limit(ctx):
    before = memory_stats(ctx)["cache_limit"]
    with pytest.raises(ValueError, match="negative"):
        set_cache_limit(-1, ctx)
    for limit in (1.5, "1", None, 2**63):
        with pytest.raises((TypeError, OverflowError)):
            set_cache_limit(limit, ctx)
    assert memory_stats(ctx)["cache_limit"] == before
    set_cache_limit(2**63 - 1, ctx)


def test_a_loop_asks_the_driver_once(cuda, ctx, changes):
    for index in range(100):
        ctx.new_buffer(8 * MIB - index)
    assert (changes()["driver_allocations"], changes()["cache_hits"]) == (1, 99)
    batch = pa.record_batch({"x": range(1000)})
    for _ in range(10):
        message = cuda.serialize_record_batch(batch, ctx)
        assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)
    assert changes()["cache_hits"] >= 99 + 8  # the last message goes when the next one is there


@pytest.mark.simulator
def test_a_hit_asks_the_driver_little(ctx, driver, current):
    """Which context is current, and whether it is still the same one."""
    ctx.new_buffer(64 * MIB)
    count = driver.library.cuda_sim_call_count
    names = (b"*", b"cuCtxGetCurrent", b"cuCtxGetId")
    before = [count(name) for name in names]
    for _ in range(10):
        ctx.new_buffer(64 * MIB)
    made = [count(name) - was for name, was in zip(names, before, strict=True)]
    assert made == [20, 10, 10]


def test_memory_that_nobody_else_has_seen_serves_at_once(cuda, ctx, default_stream, changes):
    """Whatever the device has to do: all work of this package was complete before."""
    default_stream.sleep()
    other = ctx.new_buffer(8 * MIB)
    for number in range(20):
        buffer = ctx.new_buffer(8 * MIB)
        buffer.slice(1, 100)
        cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buffer, number))
        del buffer
    assert (changes()["driver_allocations"], changes()["cache_hits"]) == (2, 19)
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


def test_memory_under_work_of_the_default_stream_waits(ctx, default_stream, changes):
    buffer = ctx.new_buffer(4 * MIB)
    assert buffer.address
    default_stream.sleep()
    del buffer
    others = [ctx.new_buffer(4 * MIB) for _ in range(3)]
    assert not default_stream.is_idle()
    assert (changes()["cache_hits"], changes()["cached_blocks"]) == (0, 1)
    ctx.synchronize()
    others.append(ctx.new_buffer(4 * MIB))
    assert (changes()["cache_hits"], changes()["cached_blocks"]) == (1, 0)


def test_what_came_before_work_that_goes_on_need_not_wait(ctx, default_stream, changes):
    """A note of what the context had to do is enough, though it is never idle."""
    complete = default_stream.hold()
    assert ctx.new_buffer(4 * MIB).address
    held = [ctx.new_buffer(4 * MIB)]  # takes note, and is a miss
    assert changes()["cache_hits"] == 0
    event = Event(ctx)
    event.record()
    default_stream.hold()
    complete()
    event.synchronize()
    for _ in range(100):  # a device may complete one event sooner than another
        held.append(ctx.new_buffer(4 * MIB))
        if changes()["cache_hits"]:
            break
        threading.Event().wait(0.001)
    assert changes()["cache_hits"] == 1
    assert not default_stream.is_idle()


def test_buffers_are_cached_whatever_was_done_with_them(cuda, ctx, changes):
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
    assert (changes()["cached_blocks"], changes()["driver_frees"]) == (2, 0)


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
def test_memory_under_work_of_any_stream_waits(ctx, make_stream, changes, flags):
    """Also where other libraries have made it, and this package does not know it."""
    side = make_stream(flags)
    for size in (100, 4 * MIB):
        buffer = ctx.new_buffer(size)
        side.sleep()
        side.fill(buffer, 7)
        del buffer
        others = [ctx.new_buffer(size) for _ in range(4)]
        assert changes()["cache_hits"] == 0
        ctx.synchronize()
        # Nothing else has written to them.
        for other in others:
            other.copy_from_host(b"\x01" * size)
        assert all(other.to_pybytes() == b"\x01" * size for other in others)
        del others
        empty_cache(ctx)


def test_a_view_of_released_memory_fails(cuda, ctx):
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


@pytest.mark.leaks
def test_exported_memory_leaves_for_good(ctx, changes):
    buffer = ctx.new_buffer(4 * MIB)
    buffer.export_for_ipc()
    del buffer
    assert empty_cache(ctx) == 0
    now = changes()
    assert (now["allocated_bytes"], now["reserved_bytes"]) == (4 * MIB, 4 * MIB)
    assert (now["cached_blocks"], now["driver_frees"]) == (0, 0)


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


@pytest.mark.alone  # memory goes back while the device is idle
def test_the_limit(ctx, changes):
    set_cache_limit(8 * MIB, ctx)
    buffers = [ctx.new_buffer(4 * MIB) for _ in range(4)]
    while buffers:
        buffers.pop()
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (8 * MIB, 2)
    ctx.new_buffer(10 * MIB)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (8 * MIB, 3)
    set_cache_limit(0, ctx)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (0, 5)
    ctx.new_buffer(4 * MIB)
    assert (changes()["cached_bytes"], changes()["driver_frees"]) == (0, 6)


@pytest.mark.alone
def test_cached_memory_makes_room(ctx, changes):
    set_cache_limit(2**50, ctx)
    empty_cache(ctx)  # what earlier tests left in it is free, too
    free = free_memory(ctx)
    both = [ctx.new_buffer(free // 8 * 3), ctx.new_buffer(free // 2)]  # so much is kept from now on
    while both:
        del both[0]
    set_cache_limit(free // 2 + 2 * MIB, ctx)  # evicts the first
    set_cache_limit(2**50, ctx)
    assert changes()["cached_bytes"] >= free // 2
    # More than the driver could take back from its own pools, which does not count as free.
    buffer = ctx.new_buffer(free_memory(ctx) + free // 32)
    assert changes()["out_of_memory_retries"] == 1
    assert changes()["cached_bytes"] == 0
    del buffer


@pytest.mark.alone
def test_what_was_never_needed_at_once_goes_back(ctx, changes):
    """Programs that need ever larger buffers do not keep all the smaller ones."""
    for size in (100, 150, 200, 250, 300):
        ctx.new_buffer(size * MIB)
    assert changes()["reserved_bytes"] <= 400 * MIB
    assert changes()["out_of_memory_retries"] == 0


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


def test_threads(ctx):
    """Nobody's bytes land in another's buffer."""
    wrong = []
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        try:
            for turn in range(200):
                mark = bytes([number * 16 + turn % 16]) * (turn * 997 % 5000 + 1)
                buffer = ctx.buffer_from_data(mark)
                if turn % 50 == number:
                    empty_cache(ctx)
                if buffer.to_pybytes() != mark:
                    wrong.append((number, turn))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
