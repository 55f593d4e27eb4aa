"""What the tests of streams share: stand-ins, pinned memory, a process with copies under way."""

import ctypes

import numpy as np

SIZE = 1000
BEFORE, AFTER = b"\x01" * SIZE, b"\x07" * SIZE


class Theirs:
    """A stream of another library: all that is known of it is the protocol."""

    def __init__(self, handle, version=0):
        self.answer = (version, handle)

    def __cuda_stream__(self):
        return self.answer


def pointer(stream):
    return ctypes.c_void_p(stream.handle)


def pinned_of(cuda, data):
    pinned = cuda.new_host_buffer(len(data))
    np.frombuffer(pinned, np.uint8)[:] = list(data)
    return pinned


START = """
import ctypes, gc, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import numpy as np
import pyarrow_cuda_compat as compat
from support.driver import the_driver
from support.refusals import check_refused
from support.work import Queue
ctx = compat.Context(0)
driver = the_driver()
driver.set_current(ctx.handle)
stream = compat.Stream(ctx, non_blocking=True)
queue = Queue(driver, ctypes.c_void_p(stream.handle))
pinned = compat.new_host_buffer(1 << 20)
array = np.frombuffer(pinned, np.uint8)
array[:] = 7
buf = ctx.new_buffer(1 << 20)
queue.sleep()
buf.copy_from_host(array, stream=stream)
ctx.new_buffer(1000).fill(1, stream=stream)
buf.copy_to_host(buf=compat.new_host_buffer(1 << 20), stream=stream)
event = stream.record()
assert not event.query()
"""
