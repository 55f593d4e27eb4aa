"""A SmartArray waits for the kernels that write to it, on whatever streams they are."""

import threading
from contextlib import nullcontext

import numpy as np
import pytest

from pyarrow_cuda_compat import DeviceArray, SmartArray, Stream, from_dlpack, new_host_buffer
from support.order_world import SOON
from support.streams import pointer
from support.work import Queue


def soon(*releases):
    for release in releases:
        threading.Timer(SOON, release).start()


class Kernels:
    """Kernels of a stream that write to parts of an array."""

    def __init__(self, ctx, driver):
        self.stream = Stream(ctx, non_blocking=True)
        self.queue = Queue(driver, pointer(self.stream))

    def launch(self, array, part):
        """Queues one, which ends after a call of what this returns."""
        release = self.queue.hold()
        self.queue.fill(part.buffer, 7)
        array._sides.launched(self.stream)
        return release


@pytest.fixture
def kernels_on(ctx, driver, current):
    """Streams that have all they need: an H200 loads no code beside a stream that waits."""
    made = []

    def kernels_on(count):
        made.extend(Kernels(ctx, driver) for _ in range(count))
        return made

    yield kernels_on
    for kernels in made:
        kernels.queue.finish()


def test_kernels_on_several_streams(kernels_on):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    slow, fast = kernels_on(2)
    releases = [slow.launch(array, device[:3]), slow.launch(array, device[3:6])]
    fast.launch(array, device[6:])()
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


def test_streams_that_are_through_are_forgotten(kernels_on):
    array = SmartArray(np.zeros(9, np.uint8))
    device = array.get("gpu")
    for kernels in kernels_on(3):
        kernels.launch(array, device)()
        kernels.stream.synchronize()
    assert len(array._sides._launches) == 1


#: Ways to the device's side.
THERE = {
    "a copy": lambda array: SmartArray(array, where="gpu").get("gpu"),
    "get": lambda array: array.get("gpu"),
    "DLPack": lambda array: from_dlpack(array),
    "array interface": lambda array: DeviceArray(array),
}


@pytest.mark.parametrize("name", THERE)
@pytest.mark.parametrize("block", [False, True])
def test_copies_on_the_device_come_behind_kernels(ctx, kernels_on, name, block):
    array = SmartArray(np.zeros(9, np.uint8))
    (slow,) = kernels_on(1)
    soon(slow.launch(array, array.get("gpu")))
    with Stream(ctx, non_blocking=True) if block else nullcontext():
        assert THERE[name](array).copy_to_host().tolist() == [7] * 9


def test_a_copy_in_a_block_comes_behind_kernels_on_the_default_stream(ctx, default_stream):
    array, out = SmartArray(np.zeros(9, np.uint8)), np.frombuffer(new_host_buffer(9), np.uint8)
    device = array.get("gpu")
    release = default_stream.hold()
    default_stream.fill(device.buffer, 7)
    array._sides.launched(0)
    soon(release)
    with Stream(ctx, non_blocking=True):
        array.get("gpu").copy_to_host(out)
    assert out.tolist() == [7] * 9
