# Streams: work of the device that runs in order, and waiting for it.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Streams
#   numba.cuda.stream: a new stream
#   numba.cuda.cudadrv.driver.Stream: device work that runs in order
#   numba.cuda.cudadrv.driver.Stream.synchronize: waits for all work of the stream
#   numba.cuda.cudadrv.driver.Stream.auto_synchronize: waits for all work of the stream at the end
#     of a `with` block
import ctypes
import re

import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
stream = numba.cuda.stream()
type(stream).__name__
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
handle = ctypes.c_void_p(int(getattr(stream.handle, "value", stream.handle)))
host = numba.cuda.pinned_array(4, np.int32)
back = numba.cuda.pinned_array(4, np.int32)


def there_and_back(value):
    """Queues a delay of 200 ms, a copy to the device, and the one back."""
    host[:], back[:] = value, 0
    driver.cuLaunchHostFunc(handle, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
    array = numba.cuda.to_device(host, stream=stream)
    array.copy_to_host(back, stream=stream)
    return array


array = there_and_back(5)
ctx.bytes_allocated
stream.synchronize()
back
# 0 from the driver: nothing is left to do.
driver.cuStreamQuery(handle)
with stream.auto_synchronize() as same:
    array = there_and_back(7)
(same is stream, back, driver.cuStreamQuery(handle))
