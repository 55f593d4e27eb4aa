"""A SmartArray waits for the kernels that write to it, on whatever streams they are."""

import numpy as np
import pytest

from pyarrow_cuda_compat import SmartArray, Stream
from support.order_world import Gate
from support.streams import pointer
from support.work import Queue


@pytest.fixture
def launch(ctx, driver, current):
    """Has a stream write to a part of an array, as a kernel would that is still running."""
    queues, streams = [], []

    def launch(array, part, stream):
        queues.append(Queue(driver, stream and pointer(stream)))
        streams.append(stream)
        gate = Gate(queues[-1])
        queues[-1].fill(part.buffer, 7)
        array._sides.launched(0 if stream is None else stream)
        return gate

    yield launch
    ctx.synchronize()
    for queue in queues:
        queue.finish()


def test_kernels_on_several_streams(ctx, launch):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    streams = [Stream(ctx, non_blocking=True) for _ in range(2)]
    gates = [
        launch(array, device[3 * i : 3 * i + 3], s) for i, s in enumerate([*streams, streams[0]])
    ]
    assert array.get().tolist() == [7] * 9
    assert not array._sides._launches
    for gate in gates:
        gate.open()


def test_a_kernel_on_the_default_stream_and_a_block(ctx, launch):
    array = SmartArray(np.zeros(9, np.uint8))
    gate = launch(array, array.get("gpu"), None)
    with Stream(ctx, non_blocking=True):
        assert array.get().tolist() == [7] * 9
    gate.open()


def test_streams_that_are_through_are_forgotten(ctx, launch):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    for _ in range(3):
        launch(array, device, stream := Stream(ctx, non_blocking=True)).open()
        stream.synchronize()
    assert len(array._sides._launches) == 1
