"""What work on streams keeps: nothing goes early, and nothing stays."""

import gc

import numpy as np
import pytest

from pyarrow_cuda_compat import Event, Stream, pinned_memory_stats
from support.streams import AFTER, BEFORE, SIZE, START


def test_pinned_memory_is_released_when_the_copy_is_made(cuda, ctx, begin):
    before, busy = pinned_memory_stats()["allocated_bytes"], begin()
    ctx.buffer_from_data(AFTER).copy_to_host(buf=cuda.new_host_buffer(SIZE), stream=busy)
    assert pinned_memory_stats()["allocated_bytes"] == before + SIZE
    busy.synchronize()
    assert pinned_memory_stats()["allocated_bytes"] == before


def test_an_event_releases_what_was_kept(ctx, begin):
    before, buf = ctx.bytes_allocated, ctx.new_buffer(SIZE)
    busy = begin()
    buf.fill(1, stream=busy)
    del buf
    event = busy.record()
    assert ctx.bytes_allocated == before + SIZE
    event.synchronize()
    assert ctx.bytes_allocated == before


def test_an_owner_may_use_streams_while_it_goes(cuda, ctx, begin):
    class Array(np.ndarray):
        def __del__(self):
            buf.fill(9, stream=busy)
            done.append(busy.query())

    done = []
    pinned, buf = cuda.new_host_buffer(SIZE), ctx.buffer_from_data(BEFORE)
    array = np.frombuffer(pinned, np.uint8).view(Array)
    busy = begin()
    buf.copy_from_host(array, stream=busy)
    del array
    gc.collect()
    assert not done
    busy.synchronize()
    assert done
    busy.synchronize()
    assert buf.to_pybytes() == b"\x09" * SIZE
    del Array.__del__


def test_streams_and_events_leave_nothing(ctx, driver, is_simulator):
    def left():
        """How many streams and events there are."""
        if not is_simulator:
            return 0, 0
        count = driver.library.cuda_sim_call_count
        streams = count(b"cuStreamCreate") - count(b"cuStreamDestroy_v2")
        return streams, count(b"cuEventCreate") - count(b"cuEventDestroy_v2")

    buf = ctx.new_buffer(SIZE)
    ctx.synchronize()
    streams, events = left()
    for turn in range(200):
        stream = Stream(ctx)
        buf.fill(1, stream=stream)
        Event(ctx, timing=True).record(stream)
        stream.wait(stream.record())
        if turn % 10 == 9:
            ctx.synchronize()  # a slow device would have many events under way
    del stream
    ctx.synchronize()
    assert left()[0] <= streams
    assert left()[1] <= events + 50, "some events are kept to be used again"


#: A device without room for both, where work keeps the first; and the same on another device.
FULL = {
    "a stream's": """
buffers = [ctx.new_buffer(40 << 20)]
queue.sleep()
buffers.pop().fill(1, stream=stream)
buf = ctx.new_buffer(40 << 20)
""",
    "another device's": """
other_ctx = compat.Context(1)
source, target = ctx.new_buffer(40 << 20), other_ctx.new_buffer(40 << 20)
queue.sleep()
target.copy_from_device(source, stream=stream)
del target
buf = other_ctx.new_buffer(40 << 20)
""",
}


@pytest.mark.simulator
@pytest.mark.parametrize("cache", [None, "0"])
@pytest.mark.parametrize("whose", FULL)
def test_memory_that_work_keeps_is_waited_for_when_there_is_no_other(run_python, cache, whose):
    code = f"{START}stream.synchronize(){FULL[whose]}assert stream.query()"
    settings = {"CUDA_SIM_MEMORY": "64M", "CUDA_SIM_DEVICES": "2", "PYARROW_CUDA_CACHE": cache}
    assert run_python(code, **settings) == (0, "", "")


@pytest.mark.simulator
def test_streams_of_a_device_that_was_reset(run_python):
    code = """
stream.synchronize()
ctx.new_buffer(8).fill(1, stream=stream)
driver.call("cuDevicePrimaryCtxReset_v2", 0)
driver.set_current(0)
new = compat.Context(0)
assert new.buffer_from_data(b"fine").to_pybytes() == b"fine"
check_refused([
    stream.synchronize, stream.query, stream.record, lambda: buf.fill(1, stream=stream),
    event.query, event.synchronize, event.record, lambda: stream.wait(event),
], "Cuda error 201 ")
other = compat.Stream(new)
fresh = new.new_buffer(8)
fresh.fill(3, stream=other)
other.synchronize()
assert fresh.to_pybytes() == bytes([3] * 8)
del stream, event, buf
"""
    assert run_python(START + code) == (0, "", "")
