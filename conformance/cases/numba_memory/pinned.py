# Page-locked arrays of the host: new ones, and ones that are there already.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Pinned memory
#   numba.cuda.pinned: host arrays are pinned for the duration of a `with` block
#   numba.cuda.pinned: arylist, any number of positional arguments: the arrays
#   numba.cuda.pinned_array: a new host array in pinned memory
#   numba.cuda.pinned_array(shape): its shape
#   numba.cuda.pinned_array(dtype): the type of its items
#   numba.cuda.pinned_array(strides): its strides
#   numba.cuda.pinned_array(order): row-major or column-major order
import ctypes
import mmap
import re
import threading

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
array = numba.cuda.pinned_array(shape=(2, 3), dtype=np.int32)
type(array), array.shape, array.strides, array.dtype.name, numba.cuda.pinned_array(3).dtype.name
numba.cuda.pinned_array((2, 3), dtype=np.int32, order="F").strides
numba.cuda.pinned_array((2, 3), dtype=np.int32, strides=(16, 4)).strides


def is_pinned(array):
    """Whether the device can reach the memory of the host."""
    try:
        return ctx.get_device_address(array.ctypes.data) > 0
    except (OSError, pa.ArrowException):
        return False


is_pinned(array)
# So a copy into a device buffer is queued, and does not keep the program waiting.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream, buf = Stream(ctx, non_blocking=True), ctx.new_buffer(16)


def is_queued(array):
    """Whether a copy of its first bytes is left to do, on a stream that is held, after the call."""
    _ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
    release = threading.Timer(5, libc.sem_post, [semaphore])
    release.start()  # for a copy that waits
    buf.copy_from_host(array.reshape(-1)[:2], stream=stream)
    is_left = not stream.query()
    if is_left:
        release.cancel()
        libc.sem_post(semaphore)
    stream.synchronize()
    return is_left


array[:] = 7
is_queued(array), buf.copy_to_host(nbytes=8).hex()
# For the time of a block, any number of arrays.
one, other = (np.frombuffer(mmap.mmap(-1, size), np.int64) for size in (4096, 8192))
one[:] = 8
is_pinned(one), is_pinned(other)
with numba.cuda.pinned(one, other):
    print(is_pinned(one), is_pinned(other))
    print(is_queued(one), is_queued(other))
    print((numba.cuda.to_device(one).copy_to_host() == one).all())
is_pinned(one), is_pinned(other)
