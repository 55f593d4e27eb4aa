"""`copy_to(..., stream=)`: arrays, batches and tables are copied in the order of a stream."""

import gc

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import Stream
from support.samples import CPU
from support.streams import Theirs

TABLE = pa.table(
    {"a": pa.chunked_array([[1, None], [3]]), "s": pa.chunked_array([["x", None, "yy"]])}
)
KINDS = {
    "array": pa.array([1, None, 3]),
    "batch": pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]}),
    "chunked array": TABLE.column("s"),
    "table": TABLE,
}
EVERY = pytest.mark.parametrize("name", KINDS)


def pinned_array(cuda, values):
    memory = cuda.new_host_buffer(8 * len(values))
    np.frombuffer(memory, np.int64)[:] = values
    return pa.Array.from_buffers(pa.int64(), len(values), [None, memory], null_count=0)


def device_array(ctx, value, count=100):
    memory = ctx.buffer_from_data(np.full(count, value))
    return memory, pa.Array.from_buffers(pa.int64(), count, [None, memory], null_count=0)


@EVERY
def test_every_way(ctx, other_ctx, name):
    data = KINDS[name]
    for non_blocking in (False, True):
        stream = Stream(ctx, non_blocking=non_blocking)
        there = data.copy_to(ctx.memory_manager, stream=stream)
        again = there.copy_to(ctx.device, stream=stream)
        across = again.copy_to(other_ctx.device, stream=stream)
        stream.synchronize()
        assert across.copy_to(CPU, stream=Stream(other_ctx)).equals(data)
        assert again.copy_to(CPU, stream=stream).equals(data)
        assert data.copy_to(CPU, stream=stream).equals(data)
        assert data.copy_to(ctx.device, stream=None).copy_to(CPU).equals(data)


@pytest.mark.unwatched
def test_copies_of_device_memory_return_at_once(ctx, stream, queue):
    memory, array = device_array(ctx, 0)
    go_on = queue.hold()
    memory.fill(1, stream=stream)
    copy = pa.table({"a": pa.chunked_array([array])}).copy_to(ctx.device, stream=stream)
    memory.fill(2, stream=stream)
    assert not stream.query()
    go_on()
    stream.synchronize()
    assert set(copy.copy_to(CPU).column(0).to_pylist()) == {0x0101010101010101}


def test_copies_of_pinned_memory_return_at_once(cuda, ctx, stream, queue):
    words = [f"{number:08}" for number in range(1000)]
    pinned = []
    for buffer in pa.array(words).buffers()[1:]:
        pinned.append(cuda.new_host_buffer(buffer.size))
        np.frombuffer(pinned[-1], np.uint8)[:] = np.frombuffer(buffer, np.uint8)
    array = pa.StringArray.from_buffers(1000, *pinned)
    for start, end in ((0, 1000), (500, 510)):
        part = array.slice(start, end - start)
        go_on = queue.hold()
        there = part.copy_to(ctx, stream=stream)
        assert not stream.query()
        go_on()
        stream.synchronize()
        assert there.copy_to(CPU).to_pylist() == words[start:end]


def test_copies_of_pageable_memory_wait(cuda, ctx, begin):
    busy = begin()
    batch = pa.record_batch([pinned_array(cuda, [7]), pa.array([8])], ["pinned", "pageable"])
    there = batch.copy_to(ctx.device, stream=busy)
    assert busy.query()
    assert there.copy_to(CPU).to_pydict() == {"pinned": [7], "pageable": [8]}


def test_nulls_are_counted_when_the_stream_has_written_the_bitmap(ctx, begin):
    bitmap = ctx.buffer_from_data(b"\xff")
    array = pa.Array.from_buffers(pa.int8(), 8, [bitmap, ctx.buffer_from_data(bytes(8))])
    busy = begin()
    bitmap.fill(0b0101, stream=busy)
    copy = array.copy_to(ctx.device, stream=busy)
    busy.synchronize()
    assert copy.copy_to(CPU).null_count == 6


def test_offsets_of_slices_are_read_when_the_stream_has_written_them(cuda, ctx, begin):
    words = [f"{number:08}" for number in range(1000)]
    _, offsets, content = pa.array(words).buffers()
    pinned, on_device = cuda.new_host_buffer(offsets.size), ctx.buffer_from_data(offsets)
    np.frombuffer(pinned, np.uint8)[:] = 0
    busy = begin()
    on_device.copy_to_host(buf=pinned, stream=busy)
    part = pa.StringArray.from_buffers(1000, pinned, content).slice(500, 10)
    assert part.copy_to(ctx, stream=busy).copy_to(CPU).to_pylist() == words[500:510]
    on_device.fill(0)
    busy = begin()
    on_device.copy_from_host(pinned, stream=busy)
    there = pa.Array.from_buffers(
        pa.string(), 1000, [None, on_device, ctx.buffer_from_data(content)], null_count=0
    )
    assert there.slice(500, 10).copy_to(CPU, stream=busy).to_pylist() == words[500:510]


@pytest.mark.unwatched
def test_queued_copies_keep_both_ends(cuda, ctx, stream, queue):
    gc.collect()
    before = ctx.bytes_allocated
    memory, array = device_array(ctx, 5)
    pinned = pinned_array(cuda, range(100))
    go_on = queue.hold()
    copy = array.copy_to(ctx.device, stream=stream)
    lost = pinned.copy_to(ctx.device, stream=stream)
    del memory, array, pinned, lost
    gc.collect()
    assert not stream.query()
    assert ctx.bytes_allocated >= before + 3 * 800
    go_on()
    stream.synchronize()
    assert set(copy.copy_to(CPU).to_pylist()) == {5}


@pytest.mark.simulator
def test_queued_copies_are_few_calls(cuda, ctx, calls):
    stream = Stream(ctx)
    columns = [pa.chunked_array([[row, None] for row in range(10)]) for _ in range(50)]
    table = pa.table(columns, list(map(str, range(50))))
    there = table.copy_to(ctx.device)
    again, made = calls(
        lambda: there.copy_to(ctx.device, stream=stream),
        b"cuMemAlloc",
        b"cuMemcpyDtoDAsync",
        b"cuMemsetD8Async",
    )
    assert made[0] in (0, 1)
    assert made[1:] == [1, 1]
    stream.synchronize()
    assert again.copy_to(CPU).equals(table)


def test_streams_of_other_libraries(ctx, make_stream):
    handle = make_stream(0)
    theirs = Theirs(handle.stream.value)
    there = TABLE.copy_to(ctx.device, stream=theirs)
    assert there.copy_to(CPU, stream=theirs).equals(TABLE)


def test_streams_of_other_contexts_are_refused(ctx, other_ctx, make_stream):
    there = TABLE.copy_to(ctx.device)
    wrong = Stream(other_ctx)
    for data in (TABLE, there):
        for destination in (ctx.device, CPU):
            if data is TABLE and destination is CPU:
                continue
            with pytest.raises(ValueError, match="context"):
                data.copy_to(destination, stream=wrong)
    theirs = Theirs(make_stream(0).stream.value)
    with pytest.raises(ValueError, match="another context"):
        TABLE.copy_to(other_ctx.device, stream=theirs)


@EVERY
@pytest.mark.parametrize("stream", [0, 1, "stream", object()])
def test_what_is_no_stream(ctx, name, stream):
    for destination in (ctx.device, CPU):
        with pytest.raises(TypeError, match="'stream' must be a Stream"):
            KINDS[name].copy_to(destination, stream=stream)
    with pytest.raises(TypeError, match="'stream' must be a Stream"):
        TABLE.to_reader().copy_to(ctx.device, stream=stream)
