"""Streams, gates and contexts that all cells of the table of order share."""

import ctypes
import threading
from contextlib import nullcontext

import numpy as np

from pyarrow_cuda_compat import Stream, new_host_buffer
from support.streams import SIZE
from support.work import NON_BLOCKING, Producer, Queue

SOON = 0.003  # seconds
DEFAULT, PER_THREAD = 1, 2  # by DLPack's numbers, which are handles as well


class Gate:
    """Holds up the work of a stream until it is opened, or for a short time."""

    def __init__(self, queue):
        self.is_done = threading.Event()
        self.thread = threading.Thread(target=self.open_soon, args=(queue.hold(),))
        self.thread.start()

    def open_soon(self, release):
        self.is_done.wait(SOON)
        release()

    def open(self):
        self.is_done.set()
        self.thread.join()


class Consumer:
    """Another library that reads memory on a stream of its own, or on a default stream."""

    def __init__(self, driver, stream, pinned):
        self.driver, self.stream = driver, stream
        self.pinned = np.frombuffer(pinned, np.uint8)

    def read(self, address, stream=None):
        """Queues a copy to the host."""
        self.pinned[:] = 0
        self.on = ctypes.c_void_p(stream) if stream is not None else self.stream
        place = ctypes.c_void_p(self.pinned.ctypes.data)
        size = ctypes.c_size_t(SIZE)
        self.driver.call("cuMemcpyDtoHAsync_v2", place, ctypes.c_uint64(address), size, self.on)

    def result(self):
        self.driver.call("cuStreamSynchronize", self.on)
        return self.pinned.tobytes()


class World:
    """The streams of all cells."""

    def __init__(self, ctx, driver, make_stream, make_event):
        self.ctx, self.driver = ctx, driver
        self.producer = Producer(driver, make_stream(NON_BLOCKING).stream, make_event())
        self.on_default = Producer(driver, None, make_event())
        self.theirs = make_stream(NON_BLOCKING)
        self.consumer = Consumer(driver, self.theirs.stream, new_host_buffer(SIZE))
        self.blocking, self.free = Stream(ctx), Stream(ctx, non_blocking=True)
        self.per_thread = Queue(driver, PER_THREAD)

    def queue_of(self, reader):
        """The stream on which a reader reads."""
        if reader in ("DLPack, stream 1", "libcudf"):
            return self.on_default
        return self.per_thread if reader == "DLPack, stream 2" else self.theirs


def in_block(stream):
    return lambda world, array: (getattr(world, stream, None) or nullcontext(), lambda: array)


def copied_in_block(world, array):
    return world.free, lambda: array.copy_to(world.ctx.memory_manager)


def copied_on_stream(world, array):
    def copy():
        made = array.copy_to(world.ctx.memory_manager, stream=world.free)
        world.free.synchronize()
        return made

    return nullcontext(), copy


#: Where the package works in between: a context to be in, and what goes out.
MODES = {
    "default stream": in_block("nothing"),
    "with blocking": in_block("blocking"),
    "with non-blocking": in_block("free"),
    "with non-blocking, copied": copied_in_block,
    "stream=, copied": copied_on_stream,
}
