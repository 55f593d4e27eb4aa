# Whoever makes the copies, they are the same: at every size, from any place, in one turn.
# environment: PYARROW_CUDA_COPY_THREADS=3
# environment: PYARROW_CUDA_COPY_PINNED=524288
# shows: additions, Copies by several threads
#   CudaBuffer.copy_to_host: every kind of copy is complete, in the right place and in order
#   CudaBuffer.equals: comparing with pageable memory uses the same threads
import ctypes
import re

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
numbers = np.random.default_rng(5)
wrong = []
for size in (1, 4096, 262_143, 262_144, 300_001, 1 << 20, (4 << 20) + 1):
    data = numbers.integers(0, 256, size, np.uint8)
    buf = ctx.buffer_from_data(np.zeros(size + 9, np.uint8))
    _ = buf.copy_from_host(data, position=5)
    there = np.frombuffer(buf.copy_to_host(position=5, nbytes=size), np.uint8)
    around = [buf[index] for index in (*range(5), *range(-4, 0))]
    equal = buf.slice(5, size).equals(pa.py_buffer(data))
    data[-1] ^= 1
    different = buf.slice(5, size).equals(pa.py_buffer(data))
    data[-1] ^= 1
    if (there != data).any() or any(around) or not equal or different:
        wrong.append(size)

wrong
# They come after what is queued on the default stream, and are complete on return.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(buf.size)
_ = driver.cuLaunchHostFunc(None, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
_ = driver.cuMemsetD8Async(at, ctypes.c_ubyte(7), count, None)
set(np.frombuffer(buf.copy_to_host(), np.uint8).tolist())
_ = driver.cuLaunchHostFunc(None, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
_ = driver.cuMemsetD8Async(at, ctypes.c_ubyte(8), count, None)
_ = buf.copy_from_host(np.full(1 << 20, 9, np.uint8))
(driver.cuStreamQuery(None), buf[0], buf[(1 << 20) - 1], buf[1 << 20])
