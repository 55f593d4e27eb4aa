# NumPy arrays are sent to the device, into memory of this package's contexts, and back.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Data transfer
#   numba.cuda.to_device: copies a NumPy array to the device
#   numba.cuda.to_device(obj): the array or scalar
#   numba.cuda.to_device(stream): the stream to copy on
#   numba.cuda.to_device(copy): whether to copy, or only to allocate
#   numba.cuda.to_device(to): an array on the device to copy into
#   numba.cuda.to_device: returns a DeviceNDArray
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: copies the data of to_device back,
#     into a new array
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: fills an existing array of the same
#     shape and type
#   numba.cuda.to_device: on a stream the copy is queued there
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: on a stream the copy back is queued
#     there
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: copies to the host
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host(ary): an array to copy into; a new one
#     by default
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host(stream): the stream to copy on
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: returns the host array of either kind
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: complete on return without a stream;
#     queued with one
import ctypes
import re
import threading

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
host = np.arange(10, dtype=np.int32)
array = numba.cuda.to_device(obj=host)
type(array).__name__, array.shape, array.dtype.name, ctx.bytes_allocated
cuda.CudaBuffer.from_numba(array.gpu_data).to_pybytes() == host.tobytes(), array.copy_to_host()
# Into an array that is there already.
filled = np.zeros(10, np.int32)
array.copy_to_host(ary=filled) is filled, filled
try:
    array.copy_to_host(np.zeros(9, np.int32))
except ValueError:
    print("not into one of another shape")
# Only allocated, and not copied.
ctx.bytes_allocated
empty = numba.cuda.to_device(host, copy=False)
empty.shape, ctx.bytes_allocated
# Into an array of the device that is there already.
numba.cuda.to_device(host * 2, to=empty) is empty, empty.copy_to_host()
numba.cuda.to_device(host * 3, copy=False, to=empty) is empty, empty.copy_to_host()
# A scalar of a structured type.
pair = np.array((7, 0.5), dtype=[("count", np.int32), ("share", np.float32)])[()]
numba.cuda.to_device(pair).copy_to_host()
# On a stream both copies are queued.
stream = numba.cuda.stream()
queued = numba.cuda.to_device(host, stream=stream)
back = queued.copy_to_host(stream=stream)
stream.synchronize()
(queued.stream is stream, back)
del array, empty, queued
ctx.bytes_allocated

# On a stream, copies to the device and back wait for the work before them, and do not block.
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
# It lies in memory of this package, whose buffers queue copies on Numba's streams as well.
ctx.bytes_allocated
buf = cuda.CudaBuffer.from_numba(array.gpu_data)
back, ours = (numba.cuda.pinned_array(4, np.int32) for _ in range(2))
back[:] = ours[:] = 0
# The stream waits for the semaphore.
_ = driver.cuLaunchHostFunc(handle, libc.sem_wait, semaphore)
release = threading.Timer(5, libc.sem_post, [semaphore])
release.start()  # for a copy that waits
_ = numba.cuda.to_device(host, stream=stream, to=array)
array.copy_to_host(back, stream=stream) is back
buf.copy_to_host(buf=pa.py_buffer(ours), stream=stream).size, back, ours
# 600 from the driver: something is left to do.
driver.cuStreamQuery(handle)
release.cancel()
libc.sem_post(semaphore)
stream.synchronize()
back, ours
# Without a stream they are done when the call returns.
numba.cuda.to_device(host * 2, to=array) is array, array.copy_to_host()
