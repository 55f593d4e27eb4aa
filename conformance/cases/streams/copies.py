# On a stream, copies of page-locked memory return at once, and others when they are made.
# shows: additions, Streams
#   CudaBuffer.copy_from_host(stream): on a stream: from pinned memory it returns at once, from
#     pageable memory when the copy is complete
#   CudaBuffer.copy_to_host(stream): on a stream: to pinned memory it returns at once, to pageable
#     memory when the copy is complete
#   CudaBuffer.copy_from_device(stream): on a stream, returning at once
import ctypes
import re

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream = Stream(ctx, non_blocking=True)
source, target = cuda.new_host_buffer(4), cuda.new_host_buffer(4)
np.frombuffer(source, np.uint8)[:] = list(b"abcd")
np.frombuffer(target, np.uint8)[:] = list(b"....")
buf, copy = ctx.buffer_from_data(b"...."), ctx.buffer_from_data(b"....")
# The stream waits for the semaphore, and the copies for the stream.
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
buf.copy_from_host(source, stream=stream)
copy.copy_from_device(buf, position=1, stream=stream)
copy.copy_to_host(buf=target, stream=stream) is target
(stream.query(), target.to_pybytes())
_ = libc.sem_post(semaphore)
stream.synchronize()
(stream.query(), target.to_pybytes())


def delay():
    """Keeps what comes next on the stream waiting for 200 ms."""
    function = ctypes.CDLL(None).usleep
    _ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), function, ctypes.c_void_p(200_000))


# Data in other memory may change when the call returns.
data = bytearray(b"data")
delay()
buf.copy_from_host(data, stream=stream)
data[:] = b"gone"
# A result in other memory is there.
delay()
buf.copy_to_host(stream=stream).to_pybytes()
delay()
buf.fill(ord("-"), position=1, nbytes=2, stream=stream)
buf.copy_to_host(position=1, stream=stream).to_pybytes()
large, other = ctx.buffer_from_data(bytes(range(200))), ctx.new_buffer(200)
other.copy_from_device(large, stream=stream)
stream.synchronize()
other.equals(large)
# Without a stream all is as ever.
buf.fill(ord("="), stream=None)
buf.copy_to_host(stream=None).to_pybytes()
