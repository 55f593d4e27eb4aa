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
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: copies to the host
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host(ary): an array to copy into; a new one
#     by default
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host(stream): the stream to copy on
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.copy_to_host: returns the host array of either kind
import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
host = np.arange(10, dtype=np.int32)
array = numba.cuda.to_device(obj=host)
type(array).__name__, array.shape, array.dtype.name, ctx.bytes_allocated
cuda.CudaBuffer.from_numba(array.gpu_data).to_pybytes() == host.tobytes()
array.copy_to_host()
# Into an array that is there already.
filled = np.zeros(10, np.int32)
array.copy_to_host(ary=filled) is filled
filled
try:
    array.copy_to_host(np.zeros(9, np.int32))
except ValueError:
    print("not into one of another shape")

# Only allocated, and not copied.
ctx.bytes_allocated
empty = numba.cuda.to_device(host, copy=False)
empty.shape, ctx.bytes_allocated
# Into an array of the device that is there already.
numba.cuda.to_device(host * 2, to=empty) is empty
empty.copy_to_host()
numba.cuda.to_device(host * 3, copy=False, to=empty) is empty
empty.copy_to_host()
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
