"""Who waits for whom when memory passes between libraries: every way in, out and between, with work
that is held up on either side.

A gate holds the work.  It opens once the cell has queued all that it queues, or soon, if the cell
waits for the work itself; right answers depend on neither.
"""

import numpy as np
import pytest

from pyarrow_cuda_compat import CudaBuffer, DeviceArray, new_host_buffer
from support.order import ENTRIES, HANDLES, OTHERS, OWN, bytes_of, of_buffer
from support.order_world import MODES, Gate
from support.streams import AFTER, BEFORE, SIZE, pointer
from support.work import Queue

STATES = ("idle", "producer busy", "consumer busy", "memory reused")


def is_right(world, entry, reader, mode, state):
    ctx, memory = world.ctx, world.ctx.buffer_from_data(BEFORE)
    enter, is_independent = ENTRIES[entry]
    work = world.producer if is_independent else world.on_default
    gate = Gate(work) if state == "producer busy" else None
    work.fill(memory, 7)
    if gate is None:
        ctx.synchronize()
    array = enter(ctx, memory, work)
    block, prepare = MODES[mode](world, array)
    with block:
        leaving = prepare()
        del prepare
        if state in ("consumer busy", "memory reused"):
            gate = Gate(world.queue_of(reader))
        read = OWN.get(reader) or OTHERS[reader]
        kept = read(leaving, world.consumer)
    if state == "memory reused":
        del kept
    if state in ("consumer busy", "memory reused"):
        del array, leaving, memory
        for _ in range(3):
            ctx.new_buffer(SIZE).fill(9, stream=world.free)
        world.free.synchronize()
    if gate is not None:
        gate.open()
    right = world.consumer.result() if reader in OTHERS else kept
    ctx.synchronize()
    return right == AFTER


@pytest.mark.leaks
@pytest.mark.parametrize("reader", [*OWN, *OTHERS])
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_comes_in_goes_out_behind_the_work_on_it(world, entry, reader):
    states = STATES if reader in OTHERS and reader not in HANDLES else STATES[:2]
    # Nobody waits for anything where all are idle, whatever the mode.
    modes = {"idle": ["default stream"]}
    cells = [(mode, state) for state in states for mode in modes.get(state, MODES)]
    wrong = [cell for cell in cells if not is_right(world, entry, reader, *cell)]
    assert not wrong, wrong


@pytest.mark.leaks
@pytest.mark.parametrize("reader", [*OWN, *OTHERS])
@pytest.mark.parametrize("kind", ["blocking", "free"])
def test_what_leaves_in_a_block_comes_behind_its_stream(world, kind, reader):
    memory, stream = world.ctx.buffer_from_data(BEFORE), getattr(world, kind)
    queue = Queue(world.driver, pointer(stream))
    gate = Gate(queue)
    queue.fill(memory, 7)
    read = OWN.get(reader) or OTHERS[reader]
    with stream:
        kept = read(of_buffer(memory), world.consumer)
    gate.open()
    found = world.consumer.result() if reader in OTHERS else kept
    queue.finish()
    assert found == AFTER


@pytest.mark.leaks
@pytest.mark.parametrize("reader", HANDLES)
@pytest.mark.parametrize("stream", ["on_default", "producer"])
def test_a_handle_comes_behind_work_on_any_stream(world, stream, reader):
    """Of memory with nothing beside it, which would be wiped, on the default stream."""
    memory = world.ctx.new_buffer(2 << 20)
    memory.fill(1)
    queue = getattr(world, stream)
    gate = Gate(queue)
    queue.fill(memory, 7)
    OTHERS[reader](of_buffer(memory), world.consumer)
    assert world.consumer.result() == AFTER
    gate.open()


def copied_from_device(ctx, array, stream):
    copy = ctx.new_buffer(SIZE)
    copy.copy_from_device(CudaBuffer.from_buffer(array.buffers()[1]), stream=stream)
    return copy


def pinned(ctx, array, stream):
    out = np.frombuffer(new_host_buffer(SIZE), np.uint8)
    DeviceArray(array).copy_to_host(out, stream=stream)
    return out


def pageable(ctx, array, stream):
    return DeviceArray(array).copy_to_host(stream=stream)


def strided(ctx, array, stream):
    copy = DeviceArray.empty(SIZE, "u1")
    copy[:].copy_to_device(DeviceArray(array)[::-1], stream=stream)
    return copy.buffer


#: Calls that take a stream: each gives bytes that are there once the stream has come to them.
NAMED = {
    "copy_to": lambda ctx, array, stream: array.copy_to(
        ctx.memory_manager, stream=stream
    ).buffers()[1],
    "copy_from_device": copied_from_device,
    "copy_to_host, pinned": pinned,
    "copy_to_host, pageable": pageable,
    "strided": strided,
}


@pytest.mark.parametrize("call", NAMED)
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_named_stream_comes_behind_the_producer(world, entry, call):
    ctx, memory = world.ctx, world.ctx.buffer_from_data(BEFORE)
    enter, is_independent = ENTRIES[entry]
    work = world.producer if is_independent else world.on_default
    for _first_and_later in range(2):
        gate = Gate(work)
        work.fill(memory, 7)
        array = enter(ctx, memory, work)
        made = NAMED[call](ctx, array, world.free)
        del array  # the copy keeps it
        gate.open()
        world.free.synchronize()
        found = (
            made.tobytes()
            if isinstance(made, np.ndarray)
            else bytes_of(CudaBuffer.from_buffer(made))
        )
        assert found == AFTER
        memory.fill(1)


def test_a_stream_waits_once_for_what_came_in(world):
    """And for no later work of the default stream."""
    view = ENTRIES["foreign_buffer"][0](world.ctx, world.ctx.buffer_from_data(AFTER), None)
    copy = NAMED["copy_from_device"]
    copy(world.ctx, view, world.free)
    copy(world.ctx, view, world.free)
    release = world.on_default.hold()
    copy(world.ctx, view, world.free)
    world.free.synchronize()
    release()
