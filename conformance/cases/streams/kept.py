# Queued work retains the memory that it needs, whatever the program drops.
# shows: additions, Streams
#   Stream: queued work retains the memory that it uses, even if the program drops it
import ctypes
import gc
import re
import weakref

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream = Stream(ctx, non_blocking=True)
pinned = cuda.new_host_buffer(8)
np.frombuffer(pinned, np.uint8)[:] = list(b"pinned..")
source, target = ctx.buffer_from_data(b"device.."), ctx.new_buffer(16)
before, is_kept = ctx.bytes_allocated, weakref.ref(pinned)
# The stream waits for the semaphore.
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
target.copy_from_host(pinned, stream=stream)
target.copy_from_device(source, position=8, stream=stream)
result = cuda.new_host_buffer(8)
_, is_filled = target.copy_to_host(buf=result, stream=stream), weakref.ref(result)
del pinned, result, source, stream
_ = gc.collect()
(before - ctx.bytes_allocated, is_kept() is not None, is_filled() is not None)
# It is released when a stream, an event or the context is used after that.
_ = libc.sem_post(semaphore)
ctx.synchronize()
_ = gc.collect()
(before - ctx.bytes_allocated, is_kept() is not None)
target.to_pybytes()
