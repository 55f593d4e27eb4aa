"""Nothing orders the default streams of two contexts: what passes between them is waited for."""

import ctypes
from contextlib import ExitStack, contextmanager

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import (
    BufferWriter,
    DeviceArray,
    Stream,
    from_dlpack,
    memory,
    new_host_buffer,
)
from support.interfaces import Interface
from support.samples import CPU
from support.streams import AFTER, BEFORE, SIZE
from support.work import NON_BLOCKING, Queue


@contextmanager
def entered(driver, handle):
    previous = driver.current()
    driver.set_current(handle)
    yield
    driver.set_current(previous)


@pytest.fixture
def theirs(cuda, ctx, own_context):
    """A context of another library, on the same device."""
    return cuda.Context(0, handle=own_context)


@pytest.fixture
def queue_in(driver):
    queues = []

    def queue(ctx, buffer):
        """Work on the default stream of a context, which fills the buffer in the end."""
        with entered(driver, ctx.handle):
            queue = Queue(driver)
            queues.append((ctx, queue))
            queue.sleep()
            queue.fill(buffer, AFTER[0])

    yield queue
    for ctx, _ in queues:
        ctx.synchronize()


IMPORTS = {
    "DLPack": lambda buffer, ctx: from_dlpack(buffer, device=ctx),
    "array interface": lambda buffer, ctx: DeviceArray(Interface(buffer.address, shape=(SIZE,))),
    "array interface, stream 1": lambda buffer, ctx: DeviceArray(
        Interface(buffer.address, shape=(SIZE,), stream=1)
    ),
}


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [("DLPack", True), ("array interface", False), ("array interface, stream 1", False)],
)
@pytest.mark.parametrize("on", ["default stream", "stream"])
def test_memory_of_another_context_comes_in_behind_its_work(
    ctx, theirs, queue_in, name, is_ours, on
):
    home, other = (ctx, theirs) if is_ours else (theirs, ctx)
    buffer = home.buffer_from_data(BEFORE)
    assert buffer.address
    queue_in(home, buffer)
    array = IMPORTS[name](buffer, other)
    if on == "default stream":
        assert array.copy_to_host().tobytes() == AFTER
    else:
        stream = Stream(array.buffer.context, non_blocking=True)
        out = np.frombuffer(new_host_buffer(SIZE), np.uint8)
        array.copy_to_host(out, stream=stream)
        stream.synchronize()
        assert out.tobytes() == AFTER


@pytest.mark.parametrize("number", [None, 1, 2, "handle"])
def test_memory_goes_out_behind_the_work_of_its_own_context(
    driver, theirs, queue_in, make_stream, number
):
    buffer = theirs.buffer_from_data(BEFORE)
    queue_in(theirs, buffer)
    stream = make_stream(NON_BLOCKING).stream.value if number == "handle" else number
    capsule = buffer.__dlpack__(stream=stream, max_version=(1, 0))
    # The consumer works in the primary context.
    assert driver.read(buffer.address, SIZE) == AFTER
    del capsule


@pytest.mark.leaks
def test_a_handle_is_made_behind_copies_of_other_devices(contexts, driver):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    ours, theirs = (
        ctx.buffer_from_data(data) for ctx, data in zip(contexts[:2], (BEFORE, AFTER), strict=True)
    )
    stream = Stream(contexts[1], non_blocking=True)
    with entered(driver, contexts[1].handle):
        Queue(driver, ctypes.c_void_p(stream.handle)).sleep()
    ours.copy_from_device(theirs, stream=stream)
    ours.export_for_ipc()
    assert stream.query()


def test_a_copy_on_the_streams_of_two_devices_comes_behind_both(contexts, driver):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    source, target = (ctx.buffer_from_data(BEFORE) for ctx in contexts[:2])
    streams = [Stream(ctx, non_blocking=True) for ctx in contexts[:2]]
    with entered(driver, contexts[0].handle):
        queue = Queue(driver, ctypes.c_void_p(streams[0].handle))
        queue.sleep()
        queue.fill(source, AFTER[0])
    with streams[0], streams[1]:
        target.copy_from_device(source)
    assert target.to_pybytes() == AFTER


def write_with_a_writer(target, source):
    with BufferWriter(target) as writer:
        writer.write(source)


def whole(buffer):
    return DeviceArray(buffer, np.uint8, buffer.size)


#: Copies of memory without a stream.
WRITES = {
    "copy_from_device": lambda target, source: target.copy_from_device(source),
    "assignment": lambda target, source: whole(target).__setitem__(slice(None), whole(source)),
    "assignment with gaps": lambda target, source: whole(target)[::-1].__setitem__(
        slice(None), whole(source)
    ),
    "to_device": lambda target, source: memory.to_device(whole(source), to=whole(target)),
    "BufferWriter": write_with_a_writer,
    "copy_from_host": lambda target, source: target.copy_from_host(source),
    "copy_to_device": lambda target, source: whole(target).copy_to_device(whole(source)),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("place", ["other device", "other context"])
def test_a_copy_comes_behind_readers_on_the_stream_of_its_target(
    contexts, theirs, driver, name, place
):
    if place == "other device" and len(contexts) < 2:
        pytest.skip("needs two devices")
    home = contexts[1] if place == "other device" else theirs
    source, target = contexts[0].buffer_from_data(AFTER), home.buffer_from_data(BEFORE)
    stream, seen = Stream(home, non_blocking=True), home.new_buffer(SIZE)
    with stream:
        with entered(driver, home.handle):
            Queue(driver, ctypes.c_void_p(stream.handle)).sleep()
        seen.copy_from_device(target, stream=stream)
        WRITES[name](target, source)
    stream.synchronize()
    assert (seen.to_pybytes(), target.to_pybytes()) == (BEFORE, AFTER)


COPIES = {
    **WRITES,
    "array": lambda target, source: arrow(source).copy_to(target.context.memory_manager),
    "table": lambda target, source: pa.table({"a": arrow(source)}).copy_to(target.context),
    "batches": lambda target, source: (
        pa.table({"a": arrow(source)}).to_reader().copy_to(target.context).read_all()
    ),
}


def arrow(buffer):
    return pa.Array.from_buffers(pa.uint8(), buffer.size, [None, buffer], null_count=0)


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(
    ("writer", "blocks"), [("default stream", "target"), ("stream", "source"), ("stream", "both")]
)
def test_a_copy_comes_behind_the_writers_of_its_source(contexts, driver, name, blocks, writer):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    there, here = contexts[:2]
    source, target = there.buffer_from_data(BEFORE), here.buffer_from_data(BEFORE)
    streams = [Stream(ctx, non_blocking=True) for ctx in (there, here)]
    with entered(driver, there.handle):
        on = streams[0].handle if writer == "stream" else 0
        queue = Queue(driver, ctypes.c_void_p(on))
        queue.sleep()
        queue.fill(source, AFTER[0])
    with ExitStack() as entered_streams:
        for stream, side in zip(streams, ("source", "target"), strict=True):
            if blocks in (side, "both"):
                entered_streams.enter_context(stream)
        found = COPIES[name](target, source)
    if name in WRITES:
        assert target.to_pybytes() == AFTER
    else:
        column = found if name == "array" else found.column(0).chunk(0)
        assert column.copy_to(CPU).buffers()[1].to_pybytes()[:SIZE] == AFTER
    there.synchronize()


@pytest.mark.parametrize("block", [0, 1])
def test_a_table_on_two_devices_is_copied_in_a_block(contexts, driver, block):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    buffers = [ctx.buffer_from_data(BEFORE) for ctx in contexts[:2]]
    table = pa.table({name: arrow(buffer) for name, buffer in zip("ab", buffers, strict=True)})
    stream = Stream(contexts[block], non_blocking=True)
    with entered(driver, contexts[block].handle):
        queue = Queue(driver, ctypes.c_void_p(stream.handle))
        queue.sleep()
        queue.fill(buffers[block], AFTER[0])
    with stream:
        found = table.copy_to(CPU)
    columns = [column.chunk(0).buffers()[1].to_pybytes()[:SIZE] for column in found.columns]
    assert columns == ([AFTER, BEFORE] if block == 0 else [BEFORE, AFTER])
