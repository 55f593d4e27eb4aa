# On a stream, copies to the device and back wait for the work before them, and do not block.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
import ctypes
import re

import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
stream = numba.cuda.stream()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
handle = ctypes.c_void_p(int(getattr(stream.handle, "value", stream.handle)))
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
# Page-locked memory, from which copies need not wait.
host = numba.cuda.pinned_array(4, np.int32)
host[:] = [1, 2, 3, 4]
array = numba.cuda.device_array(4, np.int32)
# The stream waits for the semaphore.
_ = driver.cuLaunchHostFunc(handle, libc.sem_wait, semaphore)
_ = numba.cuda.to_device(host, stream=stream, to=array)
back = numba.cuda.pinned_array(4, np.int32)
back[:] = 0
array.copy_to_host(back, stream=stream) is back
back
# 600 from the driver: something is left to do.
driver.cuStreamQuery(handle)
libc.sem_post(semaphore)
stream.synchronize()
back
# Without a stream they are done when the call returns.
numba.cuda.to_device(host * 2, to=array) is array
array.copy_to_host()
