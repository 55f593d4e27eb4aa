# Streams of other libraries are taken by the protocol that they have, never as numbers.
# shows: additions, Streams
#   CudaBuffer.fill(stream): streams of other libraries are taken as objects that have one; numbers
#     are refused
# shows: additions, Events
#   Event.record(stream): also a stream of another library
import ctypes
import re

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import Event, Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
handle = ctypes.c_void_p()
_ = driver.cuStreamCreate(ctypes.byref(handle), 1)


class Theirs:
    """All that is known of a stream of CuPy, PyTorch or cuda.core."""

    def __init__(self, *answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


theirs = Theirs(0, handle.value)
buf, copy, pinned = ctx.new_buffer(4), ctx.new_buffer(4), cuda.new_host_buffer(4)
buf.fill(ord("x"), stream=theirs)
copy.copy_from_device(buf, stream=theirs)
out = copy.copy_to_host(buf=pinned, stream=theirs)
# 0 from the driver: nothing is left to do.
_ = driver.cuStreamSynchronize(handle)
(driver.cuStreamQuery(handle), out.to_pybytes())
np.frombuffer(pinned, np.uint8)[:] = list(b"abcd")
copy.copy_from_host(pinned, stream=theirs)
event = Event(ctx)
event.record(stream=theirs)
event.synchronize()
copy.to_pybytes()
ours = Stream(ctx)
ours.wait(theirs)
# The default streams have handles of their own: 0 or 1, and 2 for the thread's.
buf.fill(ord("y"), stream=Theirs(0, 1))
buf.to_pybytes()
# Refused: all numbers, objects that are not streams, and invalid answers.
buf.fill(0, stream=handle.value)
buf.fill(0, stream=event)
buf.fill(0, stream=Theirs(0, None))
buf.fill(0, stream=Theirs(1, handle.value))
buf.fill(0, stream=Theirs(0, 12345))
buf.to_pybytes()
