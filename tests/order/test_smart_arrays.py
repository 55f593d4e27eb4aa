"""A SmartArray waits for the kernels that write to it, on whatever streams they are."""

import threading

import numpy as np
import pytest

from pyarrow_cuda_compat import SmartArray, Stream, new_host_buffer
from support.order_world import SOON
from support.streams import pointer
from support.work import Queue


def soon(*releases):
    for release in releases:
        threading.Timer(SOON, release).start()


@pytest.fixture
def launch(ctx, driver, current):
    """Has a stream write to a part of an array, as a kernel would that is still running."""
    queues, streams = [], []

    def launch(array, part, stream):
        queues.append(Queue(driver, pointer(stream)))
        streams.append(stream)
        release = queues[-1].hold()
        queues[-1].fill(part.buffer, 7)
        array._sides.launched(stream)
        return release

    yield launch
    ctx.synchronize()
    for queue in queues:
        queue.finish()


def test_kernels_on_several_streams(ctx, launch):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    slow, fast = (Stream(ctx, non_blocking=True) for _ in range(2))
    releases = [launch(array, device[:3], slow), launch(array, device[3:6], slow)]
    launch(array, device[6:], fast)()
    soon(*releases)
    assert array.get().tolist() == [7] * 9


def test_a_kernel_on_the_default_stream_and_a_block(ctx, default_stream):
    """The copy to pinned memory is made on the block's stream."""
    array = SmartArray(np.frombuffer(new_host_buffer(9), np.uint8), copy=False)
    device = array.get("gpu")
    device.buffer.fill(1)
    release = default_stream.hold()
    default_stream.fill(device.buffer, 7)
    soon(release)
    with Stream(ctx, non_blocking=True):
        array._sides.launched(0)
        assert array.get().tolist() == [7] * 9


def test_streams_that_are_through_are_forgotten(ctx, launch):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    for _ in range(3):
        launch(array, device, stream := Stream(ctx, non_blocking=True))()
        stream.synchronize()
    assert len(array._sides._launches) == 1
