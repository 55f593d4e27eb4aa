"""Streams and events: copies, fills, waits, and streams of other libraries."""

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Event, Stream
from support.samples import CPU
from support.streams import Theirs

from . import scenario

DATA = np.arange(1000, dtype=np.uint8)
TABLE = pa.table(
    {"a": pa.chunked_array([[1, None], [3]]), "s": pa.chunked_array([["x"], [None, "yy"]])}
)


@scenario()
def copies():
    ctx = cuda.Context()
    stream, pinned, back = Stream(ctx), cuda.new_host_buffer(1000), cuda.new_host_buffer(1000)
    np.frombuffer(pinned, np.uint8)[:] = DATA
    buffer, other = ctx.new_buffer(1000), ctx.new_buffer(1000)
    buffer.copy_from_host(pinned, stream=stream)
    other.copy_from_device(buffer, stream=stream)
    other.fill(0, nbytes=10, stream=stream)
    other.copy_to_host(buf=back, stream=stream)
    del buffer, other  # their memory is in flight
    stream.synchronize()
    expected = bytes(10) + DATA.tobytes()[10:]
    assert back.to_pybytes() == expected


@scenario()
def pageable_copies():
    ctx = cuda.Context()
    stream, buffer = Stream(ctx, non_blocking=True), ctx.new_buffer(1000)
    buffer.copy_from_host(DATA, stream=stream)
    assert buffer.copy_to_host(stream=stream).to_pybytes() == DATA.tobytes()


@scenario()
def events():
    ctx = cuda.Context()
    stream, other = Stream(ctx), Stream(ctx)
    begin, end = Event(ctx, timing=True), Event(ctx, timing=True)
    begin.record(stream)
    other.wait(begin)
    other.wait(stream)
    end.record(other)
    end.synchronize()
    assert end.query()
    assert begin.elapsed_time(end) >= 0
    mark = stream.record()
    mark.wait(other)
    other.synchronize()
    assert stream.query()


@scenario()
def priorities():
    ctx = cuda.Context()
    least, greatest = Stream.priority_range(ctx)
    stream = Stream(ctx, non_blocking=True, priority=greatest)
    assert (least, stream.priority) == (0, greatest)


@scenario()
def with_blocks():
    ctx = cuda.Context()
    stream, buffer = Stream(ctx, non_blocking=True), ctx.new_buffer(1000)
    pinned, event = cuda.new_host_buffer(1000), Event(ctx)
    buffer.fill(3, stream=stream)
    with stream:
        assert buffer.to_pybytes() == b"\3" * 1000
        buffer.copy_from_host(DATA)
        buffer.copy_to_host(buf=pinned)
        event.record()
        assert pinned.to_pybytes() == DATA.tobytes()
        assert buffer.equals(pinned)
        with cuda.BufferWriter(buffer) as writer:
            writer.buffer_size = 400
            writer.write(bytes(1000))
        assert cuda.BufferReader(buffer).read() == bytes(1000)
        assert TABLE.copy_to(0).copy_to(CPU).equals(TABLE)
    event.synchronize()


@scenario()
def of_others():
    ctx = cuda.Context()
    stream, buffer = Stream(ctx), ctx.new_buffer(1000)
    pinned = cuda.new_host_buffer(1000)
    theirs = Theirs(stream.handle)
    buffer.fill(3, stream=theirs)
    buffer.copy_to_host(buf=pinned, stream=theirs)
    Stream(ctx).wait(theirs)
    Event(ctx).record(theirs)
    ctx.synchronize()
    assert pinned.to_pybytes() == b"\3" * 1000


@scenario()
def many():
    """What several streams retain is released by uses of others."""
    ctx = cuda.Context()
    streams = [Stream(ctx) for _ in range(4)]
    for stream in streams * 2:
        ctx.new_buffer(100).fill(1, stream=stream)
    del streams
    ctx.synchronize()


@scenario()
def copies_of_tables():
    ctx = cuda.Context()
    stream = Stream(ctx, non_blocking=True)
    there = TABLE.copy_to(ctx.memory_manager, stream=stream)
    again = there.copy_to(ctx.device, stream=stream)
    del there  # its memory is in flight
    assert again.copy_to(CPU, stream=stream).equals(TABLE)
    pinned = cuda.new_host_buffer(80)
    np.frombuffer(pinned, np.int64)[:] = range(10)
    array = pa.Array.from_buffers(pa.int64(), 10, [None, pinned], null_count=0)
    queued = pa.chunked_array([array, array]).copy_to(ctx.device, stream=stream)
    del array, pinned  # it is in flight as well
    stream.synchronize()
    assert queued.copy_to(CPU).to_pylist() == [*range(10), *range(10)]
