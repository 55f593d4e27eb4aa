"""Streams and events: what comes after what, and when calls return."""

import time

import numpy as np
import pytest

from pyarrow_cuda_compat import Event, Stream
from support.streams import AFTER, BEFORE, SIZE, pinned_of
from support.work import LONG


def test_a_part_of_pinned_memory_is_pinned(cuda, ctx, begin):
    buf, pinned = ctx.buffer_from_data(BEFORE), pinned_of(cuda, AFTER)
    busy = begin()
    buf.copy_from_host(np.frombuffer(pinned, np.uint8)[10:20], position=3, stream=busy)
    assert not busy.query()
    busy.synchronize()
    assert buf.to_pybytes() == BEFORE[:3] + AFTER[:10] + BEFORE[13:]


def test_a_copy_between_device_buffers_returns_at_once(ctx, begin):
    source, target = ctx.buffer_from_data(AFTER), ctx.buffer_from_data(BEFORE)
    busy = begin()
    assert target.copy_from_device(source, stream=busy) == SIZE
    assert target.copy_from_host(source.slice(1), position=1, stream=busy) == SIZE - 1
    assert not busy.query()
    assert target.to_pybytes() == BEFORE
    busy.synchronize()
    assert target.to_pybytes() == AFTER


def test_an_overlapping_copy_moves_the_bytes(ctx, begin):
    buf, before = ctx.buffer_from_data(b"0123456789"), ctx.bytes_allocated
    busy = begin()
    buf.copy_from_device(buf.slice(0, 8), position=2, stream=busy)
    assert not busy.query()
    assert ctx.bytes_allocated == before + 8, "by way of other memory"
    busy.synchronize()
    assert buf.to_pybytes() == b"0101234567"


def test_copies_between_devices(ctx, other_ctx, begin):
    source, target = ctx.buffer_from_data(AFTER), other_ctx.buffer_from_data(BEFORE)
    busy = begin()
    target.copy_from_device(source, stream=busy)
    assert not busy.query()
    busy.synchronize()
    assert target.to_pybytes() == AFTER
    there = Stream(other_ctx, non_blocking=True)
    source.fill(8)
    target.copy_from_device(source.slice(0, 10), position=5, stream=there)
    there.synchronize()
    assert target.to_pybytes() == AFTER[:5] + b"\x08" * 10 + AFTER[15:]
    busy.wait(there)
    busy.wait(there.record())


def test_pinned_memory_of_one_device_and_a_stream_of_another(cuda, other_ctx, ctx):
    pinned = cuda.new_host_buffer(SIZE, device=0)
    stream = Stream(other_ctx)
    other_ctx.buffer_from_data(AFTER).copy_to_host(buf=pinned, stream=stream)
    stream.synchronize()
    assert pinned.to_pybytes() == AFTER


def test_an_event_of_the_default_stream(ctx, default_stream):
    event = Event(ctx)
    default_stream.sleep()
    event.record()
    assert not event.query()
    event.synchronize()
    assert default_stream.is_idle()


def test_time_between_events(ctx, stream, queue):
    start, end = Event(ctx, timing=True), Event(ctx, timing=True)
    start.record(stream)
    start.synchronize()
    go_on = queue.hold()
    assert stream.record(end) is end
    for ask in (lambda: start.elapsed_time(end), lambda: end - start):
        with pytest.raises(OSError, match=r"Cuda error 600 .*NOT_READY.*synchronize\(\) waits"):
            ask()
    time.sleep(LONG / 1000)
    go_on()
    end.synchronize()
    assert start.elapsed_time(end) > 0.9 * LONG
    assert end - start == start.elapsed_time(end)
    assert start - end == end.elapsed_time(start)
    assert end.elapsed_time(start) == pytest.approx(-start.elapsed_time(end), rel=0.01)


def test_times_that_there_are_not(ctx):
    timed, plain = Event(ctx, timing=True), Event(ctx)
    timed.record()
    plain.record()
    with pytest.raises(ValueError, match="start event does not record time"):
        plain.elapsed_time(timed)
    with pytest.raises(ValueError, match="end event does not record time"):
        _ = plain - timed
    with pytest.raises(TypeError):
        timed.elapsed_time(None)
    for other in (None, 0, 1.5):
        with pytest.raises(TypeError, match="unsupported operand"):
            _ = timed - other
